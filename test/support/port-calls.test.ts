import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { callsOver, type Served, serveCalls } from '../../src/support/port-calls.ts'

const joined = (t: Test, served: Partial<Served>, { mostStreams = 100 } = {}) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  serveCalls({
    port: {
      postMessage: (message) => port1.postMessage(message),
      on: (listener) => port1.on('message', listener),
    },
    notes: {},
    answers: {},
    streams: {},
    ...served,
    places: 2,
    mostStreams,
    ownerOf: (argument) => String(argument),
    packed: (error) => String(error),
    tooMany: () => new Error('too many'),
  })
  const calls = callsOver(port2, (error) => new Error(String(error)))
  port2.on('message', (message) => {
    if (!calls.take(message)) t.fail('not of a call')
  })
  return calls
}

const textOf = (part: unknown) => new TextDecoder().decode(part as Uint8Array)

t.test('answers, streams and their errors', async (t) => {
  const calls = joined(t, {
    answers: {
      double: async (argument: number) => argument * 2,
      fail: async () => {
        throw new Error('no')
      },
    },
    streams: {
      count: async (upTo: number) => ({
        head: { upTo },
        parts: (async function* () {
          for (let n = 0; n < upTo; n++) yield `${n}`
          if (upTo > 5) throw new Error('over five')
        })(),
      }),
    },
  })
  t.equal(await calls.answer('double', 4), 8)
  await t.rejects(calls.answer('fail', 0), /no/)
  await t.rejects(calls.answer('nothing', 0), /nothing is called nothing/)
  const { head, parts } = await calls.stream('count', 3)
  t.strictSame(head, { upTo: 3 })
  const texts: string[] = []
  for await (const part of parts) texts.push(textOf(part))
  t.strictSame(texts, ['0', '1', '2'])
  const broken = await calls.stream('count', 6)
  await t.rejects(async () => {
    for await (const _ of broken.parts);
  }, /over five/)
})

t.test('a stream is made as it is taken, and ends with its reader', async (t) => {
  let partCount = 0
  const end = deferred<void>()
  const calls = joined(
    t,
    {
      streams: {
        endless: async () => ({
          head: undefined,
          parts: (async function* () {
            try {
              for (;;) yield { n: partCount++ }
            } finally {
              end.resolve()
            }
          })(),
        }),
      },
      answers: { ping: async () => 'pong' },
    },
    { mostStreams: 1 },
  )
  const { parts } = await calls.stream('endless', 'a')
  for await (const part of parts) if (Object(part).n === 2) break
  await end.promise
  t.equal(partCount, 3, 'no part is made before it is asked for')
  const { parts: unread } = await calls.stream('endless', 'a')
  await t.rejects(calls.stream('endless', 'b'), /too many/)
  t.equal(await calls.answer('ping', 'a'), 'pong', 'one that is not read holds no place')
  await unread[Symbol.asyncIterator]().return?.()
  t.ok(await calls.stream('endless', 'b'), 'and is over when it is left, though never begun')
})

t.test('owners take turns', async (t) => {
  const started: string[] = []
  const gates: (() => void)[] = []
  const calls = joined(t, {
    answers: {
      slow: async (argument: string) => {
        started.push(argument)
        await new Promise<void>((resolve) => gates.push(resolve))
      },
    },
  })
  const all = ['a', 'a', 'a', 'b'].map((owner) => calls.answer('slow', owner))
  while (started.length < 2) await new Promise(setImmediate)
  t.strictSame(started, ['a', 'b'], 'one owner does not hold both places')
  while (gates.length > 0 || started.length < 4) {
    gates.splice(0).forEach((open) => {
      open()
    })
    await new Promise(setImmediate)
  }
  gates.splice(0).forEach((open) => {
    open()
  })
  await Promise.all(all)
})

t.test('when the other end is gone, whatever is waited for fails', async (t) => {
  const calls = joined(t, { answers: { never: () => new Promise(() => undefined) } })
  const waiting = calls.answer('never', 'a')
  calls.fail(new Error('gone'))
  await t.rejects(waiting, /gone/)
  await t.rejects(calls.answer('never', 'a'), /gone/)
})
