import fc from 'fast-check'
import type { World } from './fuzz-world.ts'
import {
  fitting,
  hostile,
  hostileText,
  type Named,
  nearMiss,
  type Schema,
} from './json-arbitrary.ts'
import type { Operation } from './open-api.ts'
import type { RawRequest } from './raw.ts'

export type Request = RawRequest & { path: string; method: string; headers: Record<string, string> }

/** Escaped byte by byte; lone surrogates are replaced. */
const escaped = (text: string): string =>
  Buffer.from(text)
    .toString('hex')
    .replace(/../g, (hex) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16))
      return /[\w.~-]/.test(character) ? character : `%${hex.toUpperCase()}`
    })

const mostly = <T>(good: fc.Arbitrary<T>, other: fc.Arbitrary<T>, weight = 6) =>
  fc.oneof({ weight, arbitrary: good }, { weight: 1, arbitrary: other })

const textIn = (schema: Schema, named: Named, name: string) =>
  mostly(fitting(schema, named, name), hostile).map((value) =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
  )

/** In characters, so that the rest of the path is not cut off. */
const longestName = 400

/** Parts of an address that no good client writes. */
const segment = fc.constantFrom(
  '%',
  '%zz',
  '%ED%A0%80',
  '%00',
  '..',
  '.',
  '%2e%2e',
  '%2F',
  'a;b',
  '@',
)

const pathOf = (path: string, { parameters = [] }: Operation, named: Named) => {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const values = inPath.map(({ name, schema }) =>
    mostly(
      textIn(schema, named, name).map((text) => escaped(text.slice(0, longestName))),
      segment,
      20,
    ).map((text) => text || '%20'),
  )
  return fc
    .tuple(...values)
    .map((texts) =>
      inPath.reduce((at, { name }, n) => at.replace(`{${name}}`, () => texts[n] ?? ''), path),
    )
}

const oddQuery = fc.constantFrom(
  '',
  '__proto__=1',
  'constructor[prototype]=1',
  '&&=&',
  '%',
  'a=%ED%A0',
  '?',
)

const queryOf = ({ parameters = [] }: Operation, named: Named) => {
  const pairs = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema, required }) => {
      const value = textIn(schema, named, name).map((text) => `${name}=${escaped(text)}`)
      const twice = fc.tuple(value, value).map((both) => both.join('&'))
      return required
        ? mostly(value, twice, 20)
        : fc.oneof(fc.constant(''), mostly(value, twice, 20))
    })
  return fc
    .tuple(mostly(fc.constant(''), oddQuery, 20), ...pairs)
    .map((all) => all.filter((pair) => pair !== '').join('&'))
}

const types = {
  json: 'application/json',
  charset: 'application/json; charset=utf-16',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
  plain: 'text/plain',
  none: '',
}

/** Texts that are no JSON, or no JSON that is good for anything. */
export const rawJson = fc.constantFrom<string | Buffer>(
  '',
  '{',
  '[]',
  'null',
  '"a"',
  '1e999',
  '{"a":1e999}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"a":1,"a":2}',
  '\ufeff{}',
  '['.repeat(100_000),
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  `{"a":${'9'.repeat(10_000)}}`,
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
)

const boundary = 'a-b-c'
const part = (name: string, value: string, filename?: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${
    filename === undefined ? '' : `; filename="${filename}"`
  }\r\n\r\n${value}\r\n`

const forms = (named: Named) =>
  fc
    .tuple(
      named.datastore_id as fc.Arbitrary<string>,
      fc.array(fc.tuple(named.filename as fc.Arbitrary<string>, fc.string()), { maxLength: 3 }),
      fc.array(fc.tuple(fc.constantFrom('files', 'datastore_id', '__proto__', 'a'), hostileText), {
        maxLength: 1,
      }),
      fc.constantFrom(`--${boundary}--\r\n`, `--${boundary}`, '', '\r\n\r\n'),
    )
    .map(([datastore, files, odd, end]) => ({
      body: [
        part('datastore_id', datastore),
        ...files.map(([name, content]) => part('files', content, name)),
        ...odd.map(([name, value]) => part(name, value, name === 'files' ? value : undefined)),
        end,
      ].join(''),
      type: `multipart/form-data; boundary=${boundary}`,
    }))

type Sent = { body?: string | Buffer; type: string }

const bodyOf = ({ requestBody }: Operation, method: string, named: Named): fc.Arbitrary<Sent> => {
  const json = requestBody?.content[types.json]
  const isForm = requestBody?.content[types.multipart] !== undefined
  const typed = (body: fc.Arbitrary<string | Buffer>): fc.Arbitrary<Sent> =>
    fc.record({
      body,
      type: mostly(fc.constant(types.json), fc.constantFrom(...Object.values(types)), 20),
    })
  const asJson = (value: unknown) => JSON.stringify(value) ?? ''
  if (!json) {
    const nothing = fc.constant<Sent>({ type: '' })
    return method === 'get' ? nothing : mostly(nothing, typed(rawJson))
  }
  const good = fitting(json.schema, named)
  return fc.oneof(
    { weight: 5, arbitrary: typed(good.map(asJson)) },
    { weight: 5, arbitrary: typed(nearMiss(good).map(asJson)) },
    { weight: 2, arbitrary: typed(rawJson) },
    { weight: isForm ? 5 : 1, arbitrary: forms(named) },
  )
}

/** What HTTP lets a header hold. */
const headerText = hostileText.map((text) =>
  text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 500),
)

const headersOf = ({ organizationId }: World) =>
  fc.record(
    {
      'x-organization-id': mostly(fc.constant(organizationId), headerText, 2),
      'idempotency-key': mostly(fc.constantFrom('a', 'b'), headerText, 4),
      'last-event-id': fc.oneof(fc.constantFrom('0', '-1', 'a:1', 'a/1/2'), headerText),
      'x-request-id': headerText,
      accept: fc.constantFrom('application/json', 'text/event-stream', 'application/x-ndjson', 'a'),
      'user-agent': fc.constantFrom('ai-sdk/1', ''),
      'x-stainless-lang': fc.constant('js'),
      'x-stainless-retry-count': fc.constantFrom('0', '1', '-1', 'x', '1e999'),
      range: fc.constantFrom('bytes=0-1', 'bytes=-1', 'bytes=9-', 'bytes=a', 'bytes=0-1,3-4'),
      'if-none-match': headerText,
      'x-http-method-override': fc.constant('DELETE'),
      'accept-encoding': fc.constantFrom('gzip', '*;q=0', ''),
    },
    { requiredKeys: [] },
  )

const keyFrom = ({ keys }: World) => {
  const { all, own, platform, ...others } = keys
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant(all) },
    { weight: 6, arbitrary: fc.constant(own) },
    { weight: 6, arbitrary: fc.constant(platform) },
    { weight: 5, arbitrary: fc.constantFrom(...Object.values(others)) },
    { weight: 1, arbitrary: headerText },
  )
}

/** In characters: the server refuses longer requests before any route. */
const longest = 12_000

/** Requests for one route: good ones, near misses, hostile ones. */
export const requestsFor = (
  { path, method, operation }: { path: string; method: string; operation: Operation },
  world: World,
): fc.Arbitrary<Request> =>
  fc
    .record({
      path: pathOf(path, operation, world.named),
      query: queryOf(operation, world.named),
      sent: bodyOf(operation, method, world.named),
      headers: mostly(fc.constant({}), headersOf(world), 1),
      key: keyFrom(world),
    })
    .map(({ path, query, sent: { body, type }, headers, key }) => ({
      method: method.toUpperCase(),
      path: (query === '' ? path : `${path}?${query}`).slice(0, longest),
      headers: {
        ...headers,
        ...(key ? { 'x-api-key': key } : {}),
        ...(type ? { 'content-type': type } : {}),
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      ...(body === undefined ? {} : { body }),
    }))
