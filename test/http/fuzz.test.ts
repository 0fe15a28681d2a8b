import fc from 'fast-check'
import t from 'tap'
import { z } from 'zod'
import { incoming } from '../../src/http/ws/frames.ts'
import { type Request, rawJson, requestsFor } from '../support/fuzz-requests.ts'
import { fuzzWorld, type World } from '../support/fuzz-world.ts'
import { fitting, type Named, nearMiss, type Schema } from '../support/json-arbitrary.ts'
import { conformance, contractOf, operationsOf } from '../support/open-api.ts'
import { raw } from '../support/raw.ts'
import { rounds } from '../support/rounds.ts'
import { movableClock, startApp } from '../support/server.ts'
import { connect } from '../support/socket.ts'

/** FUZZ_SEED and FUZZ_RUNS (requests to each route) extend the search beyond an ordinary run. */
const seed = Number(process.env.FUZZ_SEED ?? 1)
const numRuns = Number(process.env.FUZZ_RUNS ?? rounds(3, 40))

/** How many routes may change one world. */
const mostChanges = process.env.FUZZ_RUNS ? 1 : rounds(8, 1)

t.setTimeout(Math.max(300_000, numRuns * 20_000))

/** An answer that takes longer is none. */
const patienceMs = 20_000

const formatRequest = ({ method, path, headers, body }: Request): string =>
  [
    `${method} ${path.slice(0, 2_000)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    JSON.stringify(String(body ?? '')).slice(0, 4_000),
  ].join('\n')

t.test('whatever a route is sent, it answers as the OpenAPI document says', async (t) => {
  const clock = movableClock()
  const { url, platform } = await startApp(t, {}, { clock })
  const ask = raw(url)
  const faultOf = conformance()
  // Reading changes nothing: one world is enough for all that do.
  const read = await fuzzWorld(platform)
  let changed: World | undefined
  let changes = 0
  /** A new one after so many routes that change it, and after each that deletes something. */
  const forChange = async (method: string): Promise<World> => {
    const world = changed ?? (await fuzzWorld(platform))
    changes++
    changed = method === 'delete' || changes % mostChanges === 0 ? undefined : world
    return world
  }
  for (const route of operationsOf(await contractOf(url))) {
    const name = `${route.method.toUpperCase()} ${route.path}`
    const world = route.method === 'get' ? read : await forChange(route.method)
    const requests = requestsFor(route, world)
    const property = fc.asyncProperty(requests, async ({ path, ...options }) => {
      // Plans allow so many in a minute.
      clock.advance(250)
      const answer = await ask(path, { ...options, patienceMs })
      const fault = faultOf(route.operation, answer)
      if (fault) throw new Error(fault)
    })
    const {
      failed,
      counterexample,
      errorInstance,
      numRuns: run,
    } = await fc.check(property, {
      seed,
      numRuns,
    })
    const [request] = counterexample ?? []
    t.notOk(
      failed,
      failed && request
        ? `${name}: ${errorInstance}\nFUZZ_SEED=${seed}, after ${run} requests:\n${formatRequest(request)}`
        : name,
    )
  }
})

/** A frame, as text or not, of every kind that there is. */
const framesOf = (named: Named) => {
  const good = fc.oneof(
    ...Object.entries(incoming).map(([type, schema]) =>
      fitting(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema, named).map(
        (fields) => ({ ...(fields as object), type, id: 'asked' }),
      ),
    ),
  )
  return fc.oneof(
    { weight: 4, arbitrary: good.map((frame) => JSON.stringify(frame)) },
    { weight: 4, arbitrary: nearMiss(good).map((frame) => JSON.stringify(frame) ?? '') },
    { weight: 1, arbitrary: rawJson.map(String) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }) },
  )
}

const inTime = <T>(promise: Promise<T>): Promise<T> => {
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), patienceMs)
    void promise.finally(() => clearTimeout(timer)).catch(() => undefined)
  })
  return Promise.race([promise, late])
}

t.test(
  'whatever a socket is sent, it answers as docs/contract/websocket.md says, and goes on',
  async (t) => {
    const clock = movableClock()
    const { url, platform } = await startApp(t, {}, { clock })
    const world = await fuzzWorld(platform)
    const { all, own, platform: root, unknown, scopeless } = world.keys
    const named = { ...world.named, api_key: fc.constantFrom(all, own, root, unknown, scopeless) }
    const conversation = fc.array(framesOf(named), { minLength: 1, maxLength: 20 })
    const property = fc.asyncProperty(conversation, async (frames) => {
      const socket = await connect(url, { 'x-api-key': all })
      for (const [n, frame] of frames.entries()) {
        clock.advance(250)
        socket.ws.send(frame)
        socket.send({ type: 'ping', id: n })
        for (;;) {
          const answer = await inTime(Promise.race([socket.next(), socket.closed]))
          // A key that is refused ends the channel.
          if ('code' in answer) {
            if (answer.code === 4401) return
            throw new Error(`closed with ${answer.code} ${answer.reason}`)
          }
          if (answer.type === 'error' && answer.error.code === 'internal_error')
            throw new Error(JSON.stringify(answer))
          if (answer.type === 'pong' && answer.id === n) break
        }
      }
      socket.close()
      await inTime(socket.closed)
    })
    const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns })
    const message = `${errorInstance}\nFUZZ_SEED=${seed}\n${JSON.stringify(counterexample)}`
    t.notOk(failed, failed ? message : 'every conversation')
  },
)
