import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What goes wrong with one request. */
export type Fault =
  /** Answered with this status and body, as they are. */
  | { status: number; raw?: string }
  /** Taken, done, and never answered: the connection breaks. */
  | 'cut'
  /** Taken and never answered. */
  | 'silent'
  /** An answer without an end. */
  | 'flood'

/** What becomes of the next prediction. */
export type Plan = {
  /** So many looks at it are answered with `processing`. */
  looks?: number
  /** It goes on until `end` is called. */
  held?: boolean
  error?: unknown
  /** In place of the URL of its file. */
  output?: unknown
  file?: { bytes?: Uint8Array; type?: string }
}

export type Prediction = {
  id: string
  key: string | undefined
  body: { version: string; input: Record<string, unknown>; webhook?: string }
  status: string
  plan: Plan
}

const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')

const flood = (response: ServerResponse) => {
  const part = Buffer.alloc(65_536, ' ')
  const more = () => {
    while (!response.destroyed && response.write(part));
  }
  response.on('drain', more).writeHead(200)
  more()
}

/**
 * A prediction-style service on loopback: POST /predictions, GET and POST …/cancel below it, files
 * of what is made. The same idempotency key is answered with the same prediction.
 */
export const generationDouble = async () => {
  const plans: Plan[] = []
  const faults: Record<'create' | 'poll' | 'cancel' | 'file', Fault[]> = {
    create: [],
    poll: [],
    cancel: [],
    file: [],
  }
  const predictions: Prediction[] = []
  const requests: { what: keyof typeof faults; headers: IncomingHttpHeaders; url: string }[] = []
  const waiting: { fits: () => boolean; seen: () => void }[] = []
  let base = ''

  const answerOf = ({ id, status, plan }: Prediction) => ({
    id,
    status,
    output: status === 'succeeded' ? (plan.output ?? `${base}/files/${id}`) : null,
    error: status === 'failed' ? plan.error : null,
  })

  const create = (headers: IncomingHttpHeaders, body: Prediction['body']): Prediction => {
    const key = headers['idempotency-key']?.toString()
    const known = predictions.find((other) => key !== undefined && other.key === key)
    if (known) return known
    const plan = plans.shift() ?? {}
    const prediction: Prediction = {
      id: `p-${predictions.length + 1}`,
      key,
      body,
      status: 'starting',
      plan,
    }
    predictions.push(prediction)
    return prediction
  }

  const advance = (prediction: Prediction): void => {
    if (!['starting', 'processing'].includes(prediction.status)) return
    const { looks = 0, held, error } = prediction.plan
    prediction.status =
      held || looks > 0 ? 'processing' : error === undefined ? 'succeeded' : 'failed'
    prediction.plan = { ...prediction.plan, looks: looks - 1 }
  }

  const sendFile = (response: ServerResponse, { plan: { file = {} } }: Prediction): void => {
    const { bytes = drawing, type = 'image/svg+xml' } = file
    response.writeHead(200, { 'content-type': type }).end(bytes)
  }

  const server = createServer(async (request, response) => {
    const { url = '', method, headers } = request
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const [, place, id, action] = url.split('/')
    const what =
      place === 'files' ? 'file' : method === 'GET' ? 'poll' : action ? 'cancel' : 'create'
    requests.push({ what, headers, url })
    const fault = faults[what].shift()
    const refused = typeof fault === 'object'
    const prediction =
      what === 'create' && !refused
        ? create(headers, JSON.parse(Buffer.concat(parts).toString()))
        : predictions.find((other) => other.id === id)
    if (what === 'poll' && prediction) advance(prediction)
    if (what === 'cancel' && prediction) prediction.status = 'canceled'
    for (const { fits, seen } of waiting) if (fits()) seen()
    if (fault === 'silent') return
    if (fault === 'flood') return flood(response)
    if (fault === 'cut' && what === 'file') {
      response.writeHead(200, { 'content-length': 1_000 }).write('half of it')
      setImmediate(() => response.destroy())
      return
    }
    if (fault === 'cut') return response.destroy()
    if (refused) return response.writeHead(fault.status).end(fault.raw)
    if (!prediction) return response.writeHead(404).end()
    if (what === 'file') return sendFile(response, prediction)
    response.writeHead(what === 'create' ? 201 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answerOf(prediction)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    /** As configured. */
    url: base,
    /** Every prediction that was made, in order. */
    made: predictions,
    /** Every request so far. */
    requests,
    count: (what: keyof typeof faults) => requests.filter((entry) => entry.what === what).length,
    /** What becomes of the next predictions, in order. */
    next: (...more: Plan[]) => plans.push(...more),
    /** What goes wrong with the next requests of a kind, in order. */
    fail: (what: keyof typeof faults, ...more: Fault[]) => faults[what].push(...more),
    /** Ends a prediction that is held. */
    end(n: number) {
      const prediction = predictions[n]
      if (prediction) prediction.plan = { ...prediction.plan, held: false, looks: 0 }
    },
    /** Resolves once a request has made this true. */
    async until(fits: () => boolean): Promise<void> {
      if (!fits()) await new Promise<void>((seen) => waiting.push({ fits, seen }))
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
