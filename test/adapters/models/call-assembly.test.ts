import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { type CallPiece, callAssembly } from '../../../src/adapters/models/call-assembly.ts'
import { type ModelEvent, ModelFault } from '../../../src/ports/model.ts'
import { callsIn, chunk, endsWith, modelEvents, sse } from '../../support/provider-chunks.ts'

type Piece = {
  index?: unknown
  id?: unknown
  function?: { name?: unknown; arguments?: unknown }
}

const piece = (index: unknown, id: unknown, name: unknown, args: unknown): Piece => ({
  index,
  id,
  function: { name, arguments: args },
})

/** Each list is the calls of one chunk. */
const streamOf = (...chunks: Piece[][]) =>
  sse(...chunks.map((tool_calls) => chunk({ tool_calls })), endsWith('tool_calls'))

const oslo = '{"city":"Oslo"}'
const rome = '{"city":"Rome"}'

const callList = (...calls: [id: string, name: string, args: string][]) =>
  calls.map(([id, name, args]) => ({ id, name, arguments: args }))

/** What a provider sends, and the calls that it means. */
const shapes: Record<string, [raw: string, calls: ReturnType<typeof callList>]> = {
  'all numbered 0 without ids, by names': [
    streamOf([piece(0, '', 'weather', oslo)], [piece(0, '', 'time', rome)]),
    callList(['call_0', 'weather', oslo], ['call_1', 'time', rome]),
  ],
  'all numbered 0 without ids, of one name': [
    streamOf([piece(0, '', 'weather', oslo)], [piece(0, '', 'weather', rome)]),
    callList(['call_0', 'weather', oslo], ['call_1', 'weather', rome]),
  ],
  'all numbered 0 without names behind the first': [
    streamOf([piece(0, null, 'weather', oslo)], [piece(0, null, null, rome)]),
    callList(['call_0', 'weather', oslo], ['call_1', 'weather', rome]),
  ],
  'the arguments once more at the end': [
    streamOf(
      [piece(0, 'a', 'weather', '')],
      [piece(0, null, null, oslo)],
      [piece(0, null, null, '{ "city": "Oslo" }')],
    ),
    callList(['a', 'weather', oslo]),
  ],
  'the same call twice': [
    streamOf([piece(0, '', 'weather', oslo)], [piece(0, '', 'weather', oslo)]),
    callList(['call_0', 'weather', oslo], ['call_1', 'weather', oslo]),
  ],
  'two values in one piece': [
    streamOf([piece(0, 'a', 'weather', ` ${oslo}\n${rome} `)]),
    callList(['a', 'weather', ` ${oslo}`], ['a', 'weather', `\n${rome} `]),
  ],
  'all numbered 0, each with its id and in pieces': [
    streamOf(
      [piece(0, 'a', 'weather', '')],
      [piece(0, '', null, '{"city":')],
      [piece(0, '', null, '"Oslo"}')],
      [piece(0, 'b', 'weather', '')],
      [piece(0, '', null, rome)],
    ),
    callList(['a', 'weather', oslo], ['b', 'weather', rome]),
  ],
  'no numbers, each in a chunk of its own': [
    streamOf([piece(undefined, 'a', 'weather', oslo)], [piece(undefined, 'b', 'time', rome)]),
    callList(['a', 'weather', oslo], ['b', 'time', rome]),
  ],
  'no numbers, in one chunk': [
    streamOf([piece(undefined, null, 'weather', oslo), piece(null, null, 'weather', rome)]),
    callList(['call_0', 'weather', oslo], ['call_1', 'weather', rome]),
  ],
  'equal ids at different numbers': [
    streamOf([piece(0, 'a', 'weather', oslo)], [piece(1, 'a', 'weather', rome)]),
    callList(['a', 'weather', oslo], ['a', 'weather', rome]),
  ],
  'the name again in each piece': [
    streamOf([piece(0, 'a', 'weather', '{"city":')], [piece(0, 'a', 'weather', '"Oslo"}')]),
    callList(['a', 'weather', oslo]),
  ],
  'another id in each piece': [
    streamOf(
      [piece(0, 'a', 'weather', '{"ci')],
      [piece(0, 'b', 'weather', 'ty":')],
      [piece(0, 'c', null, '"Oslo"}')],
    ),
    callList(['a', 'weather', oslo]),
  ],
  'an empty object in front of the arguments': [
    streamOf(
      [piece(0, 'a', 'weather', '{}')],
      [piece(0, null, null, '{"city":')],
      [piece(0, null, null, '"Oslo"}')],
    ),
    callList(['a', 'weather', oslo]),
  ],
  'braces and escaped quotes in strings': [
    streamOf([piece(0, '', 'say', '{"text":"}{ \\"')], [piece(0, '', null, '} {"}')]),
    callList(['call_0', 'say', '{"text":"}{ \\"} {"}']),
  ],
  'numbers that are texts, ids that are numbers, arguments that are objects': [
    streamOf(
      [piece('0', 17, 'weather', { city: 'Oslo' })],
      [piece('1', 18, 'weather', { city: 'Rome' })],
    ),
    callList(['17', 'weather', oslo], ['18', 'weather', rome]),
  ],
  'a call that is no array': [
    sse(chunk({ tool_calls: piece(0, 'a', 'weather', oslo) }), endsWith('tool_calls')),
    callList(['a', 'weather', oslo]),
  ],
  'an id and a name in pieces of their own': [
    streamOf(
      [{ index: 0, id: 'a' }],
      [piece(0, null, 'weather', '')],
      [piece(0, null, null, oslo)],
    ),
    callList(['a', 'weather', oslo]),
  ],
  'the reason stop': [
    sse(chunk({ tool_calls: [piece(0, 'a', 'weather', oslo)] }), endsWith('stop')),
    callList(['a', 'weather', oslo]),
  ],
  'no arguments, in all its forms': [
    streamOf(
      [piece(0, 'a', 'now', '')],
      [piece(1, 'b', 'now', ' \n')],
      [piece(2, 'c', 'now', null)],
      [piece(3, 'd', 'now', 'null')],
      [{ index: 4, id: 'e', function: { name: 'now' } }],
      [piece(5, 'f', 'now', {})],
    ),
    callList(
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => [id, 'now', '{}'] as [string, string, string]),
    ),
  ],
}

for (const [shape, [raw, calls]] of Object.entries(shapes))
  t.test(`calls are kept apart: ${shape}`, async (t) => {
    const events = await modelEvents(t, { raw })
    t.strictSame(callsIn(events), calls)
    t.match(events.at(-1), { type: 'done', finishReason: 'tool_calls' })
  })

t.test('an answer that was cut off has its reason and no calls', async (t) => {
  for (const reason of ['length', 'content_filter', 'MAX_TOKENS', 'SAFETY'])
    for (const args of ['{"city":"Os', oslo, '']) {
      const call = chunk({ content: 'Wait', tool_calls: [piece(0, 'a', 'weather', args)] })
      const events = await modelEvents(t, { raw: sse(call, endsWith(reason)) })
      t.strictSame(callsIn(events), [], `${reason} ${args}`)
      const finishReason = /length|max/i.test(reason) ? 'length' : 'content_filter'
      t.match(events, [{ text: 'Wait' }, { type: 'done', finishReason }] as Partial<ModelEvent>[])
    }
  const nameless = chunk({ tool_calls: [{ index: 0, id: 'a' }] })
  const events = await modelEvents(t, { raw: sse(nameless, endsWith('length')) })
  t.match(events, [{ type: 'done', finishReason: 'length' }], 'also where it has no name yet')
})

t.test('an answer with over 128 calls is refused', async (t) => {
  const many = streamOf(...Array.from({ length: 129 }, (_, n) => [piece(0, `${n}`, 'a', '{}')]))
  await t.rejects(modelEvents(t, { raw: many }), ModelFault)
})

const json = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value))
const someCall = fc.record({ id: fc.uuid(), name: fc.constantFrom('a', 'b'), arguments: json })

const assembled = (pieces: readonly CallPiece[]) => {
  const calls = callAssembly()
  for (const piece of pieces) calls.add(piece, 0)
  return calls.all()
}

t.test(
  'calls in pieces with indices are put together, however they are cut and mixed',
  async () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(someCall, fc.integer({ min: 1, max: 9 })), { maxLength: 5 }),
        fc.infiniteStream(fc.nat(4)),
        (cut, choices) => {
          const queues = cut.map(([{ id, name, arguments: args }, size], index) => {
            const pieces: CallPiece[] = [{ index, id, name, arguments: '' }]
            for (let at = 0; at < args.length; at += size)
              pieces.push({ index, id: '', name: '', arguments: args.slice(at, at + size) })
            return pieces
          })
          const heads = queues.map((pieces) => pieces.shift() as CallPiece)
          const mixed: CallPiece[] = []
          for (const choice of choices) {
            const left = queues.filter(({ length }) => length > 0)
            const next = left[choice % left.length]?.shift()
            if (!next) break
            mixed.push(next)
          }
          return isDeepStrictEqual(
            assembled([...heads, ...mixed]),
            cut.map(([call]) => ({ ...call })),
          )
        },
      ),
    )
  },
)

t.test('whole calls without indices and ids are told apart', async () => {
  fc.assert(
    fc.property(fc.array(someCall, { maxLength: 8 }), (calls) => {
      const pieces = calls.map((call) => ({ ...call, index: 0, id: '' }))
      const actual = assembled(pieces).map(({ name, arguments: args }) => [name, args])
      return isDeepStrictEqual(
        actual,
        calls.map(({ name, arguments: args }) => [name, args]),
      )
    }),
  )
})
