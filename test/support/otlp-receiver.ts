import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'

type Value = {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  arrayValue?: { values: Value[] }
}
type Attribute = { key: string; value: Value }
/** A span as a receiver of OTLP sees it; ids in hex. */
export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  attributes: Record<string, unknown>
  error: boolean
}

const textOrNumber = ({ stringValue, intValue, doubleValue, arrayValue }: Value): unknown => {
  if (arrayValue) return arrayValue.values.map(textOrNumber)
  return stringValue ?? (intValue === undefined ? doubleValue : Number(intValue))
}

/** The fields of one protobuf message (wire format): varints, fixed numbers, and bytes. */
const fieldsOf = (bytes: Buffer): Map<number, (bigint | Buffer)[]> => {
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('a protobuf message is cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  const kinds: Record<number, () => bigint | Buffer> = {
    0: varint,
    1: () => take(8),
    2: () => take(Number(varint())),
    5: () => take(4),
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const read = kinds[tag & 7]
    if (!read) throw new Error(`no protobuf: wire type ${tag & 7}`)
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), read()])
  }
  return fields
}

const messages = (bytes: Buffer, field: number) =>
  (fieldsOf(bytes).get(field) ?? []).map((field) => fieldsOf(Buffer.from(field as Buffer)))
const nested = (fields: ReturnType<typeof fieldsOf>, field: number) =>
  (fields.get(field) ?? []).map((field) => fieldsOf(field as Buffer))
const text = (fields: ReturnType<typeof fieldsOf>, field: number) =>
  String(fields.get(field)?.[0] ?? '')
const hex = (fields: ReturnType<typeof fieldsOf>, field: number) =>
  (fields.get(field)?.[0] as Buffer | undefined)?.toString('hex') ?? ''

/** Field numbers are those of opentelemetry/proto/trace/v1/trace.proto. */
const spansInProtobuf = (body: Buffer): ReceivedSpan[] =>
  messages(body, 1)
    .flatMap((resource) => nested(resource, 2))
    .flatMap((scope) => nested(scope, 2))
    .map((span) => ({
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      parentSpanId: hex(span, 4),
      name: text(span, 5),
      attributes: Object.fromEntries(
        nested(span, 9).map((attribute) => [
          text(attribute, 1),
          nested(attribute, 2).map((value) => {
            const integer = value.get(3)?.[0]
            return integer === undefined ? text(value, 1) : Number(integer)
          })[0],
        ]),
      ),
      error: nested(span, 15).some((status) => status.get(3)?.[0] === 2n),
    }))

// biome-ignore lint/suspicious/noExplicitAny: a document of another project's schema
const spansInJson = (body: any): ReceivedSpan[] =>
  body.resourceSpans
    // biome-ignore lint/suspicious/noExplicitAny: as above
    .flatMap((resource: any) => resource.scopeSpans.flatMap(({ spans }: any) => spans))
    // biome-ignore lint/suspicious/noExplicitAny: as above
    .map(({ traceId, spanId, parentSpanId = '', name, attributes, status }: any) => ({
      traceId,
      spanId,
      parentSpanId,
      name,
      attributes: Object.fromEntries(
        attributes.map(({ key, value }: Attribute) => [key, textOrNumber(value)]),
      ),
      error: status.code === 2,
    }))

/** A receiver of OTLP over HTTP, in both encodings. `hold`: it takes requests and never answers. */
export const otlpReceiver = async (t: Test, { hold = false } = {}) => {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, unknown>()
  const types = new Set<string>()
  let requests = 0
  let waiting: (() => void)[] = []
  const held: ServerResponse[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const bytes = Buffer.concat(parts)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    const type = request.headers['content-type'] ?? ''
    types.add(type)
    requests++
    const isJson = type.startsWith('application/json')
    if (request.url === '/v1/traces')
      spans.push(...(isJson ? spansInJson(JSON.parse(body.toString())) : spansInProtobuf(body)))
    if (request.url === '/v1/metrics' && isJson)
      // biome-ignore lint/suspicious/noExplicitAny: as above
      for (const { scopeMetrics } of JSON.parse(body.toString()).resourceMetrics as any[])
        for (const scope of scopeMetrics)
          for (const metric of scope.metrics) metrics.set(metric.name, metric)
    const wake = waiting
    waiting = []
    for (const resume of wake) resume()
    if (hold) held.push(response)
    else response.writeHead(200, { 'content-type': type }).end(isJson ? '{}' : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    types,
    requests: () => requests,
    /** Resolves once what was received fits. */
    async until(fits: () => boolean): Promise<void> {
      while (!fits()) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
