import t from 'tap'
import { refusal } from '../../../src/domain/refusal.ts'
import { type ResponseStream, responseFrames } from '../../../src/http/streams/response-frames.ts'
import { defaultEcho } from '../../../src/http/wire/response-echo.ts'
import type { LiveTurn } from '../../../src/turns/turn.ts'
import { doneWith, token, turnWith } from '../../support/live-turn.ts'
import { eventIn } from '../../support/open-responses.ts'

const readEvents = async (
  turn: LiveTurn,
  stream: Omit<ResponseStream, 'echo'> = {},
  signal?: AbortSignal,
) => {
  let text = ''
  for await (const frame of responseFrames(turn, { echo: defaultEcho, ...stream }, signal))
    text += frame
  const events = text
    .split('\n\n')
    .filter(Boolean)
    .map((block) => eventIn(block, stream.ids))
  if (events.pop()) throw new Error('[DONE] is not the last item')
  return events.map((item) => {
    if (item?.faults.length !== 0) throw new Error(`not an event: ${item?.faults}`)
    return item.event
  })
}

const short = (events: readonly { type: string; sequence_number: number }[]) =>
  events.map(({ type, sequence_number }) => `${sequence_number} ${type.replace('response.', '')}`)

const endFrom = (n: number) => [
  `${n} output_text.done`,
  `${n + 1} content_part.done`,
  `${n + 2} output_item.done`,
  `${n + 3} completed`,
]

t.test('a later attempt tells its end also to who was further in an earlier one', async (t) => {
  const done = doneWith('One two')
  const turn = turnWith({ status: 'completed', done, at: 2 }, { attempt: 2 })
  for (const item of [{ event: 'run_resumed' as const, attempt: 2 }, token('One two'), done])
    turn.items.push(item)
  turn.items.close()
  t.strictSame(short(await readEvents(turn)).slice(4), ['4 output_text.delta', ...endFrom(5)])
  const late = await readEvents(turn, { after: 30 })
  t.strictSame(short(late), endFrom(31))
  t.match(late[0], { text: 'One two' })
  const first = { ...turn, attempt: 1 }
  t.strictSame(await readEvents(first, { after: 8 }), [], 'who had all of it gets nothing')
})

t.test('a failure of what is past is told, however far the client was', async (t) => {
  const failed = refusal('llm_service_timeout')
  const turn = turnWith({ status: 'failed', refusal: failed })
  turn.items.push({ event: 'failed', code: failed.code, message: failed.message })
  turn.items.close()
  const events = await readEvents(turn, { after: 20, isPast: true })
  t.strictSame(short(events), ['21 error', '22 failed'])
  t.match(events[1].response, { status: 'failed', error: { code: 'llm_service_timeout' } })
})

t.test('parallel branches come one after another', async (t) => {
  const done = doneWith('A:\none\n\nB:\ntwo')
  const turn = turnWith({ status: 'completed', done, at: 2 })
  turn.items.push({ event: 'branches_began', names: ['A', 'B'] })
  turn.items.push(token('two', [1]))
  turn.items.push(token('one', [0]))
  const branchEnd = { event: 'branch_ended' as const, agent: 'A', step_id: 's', answered: true }
  turn.items.push({ ...branchEnd, path: [0] })
  turn.items.push({ ...branchEnd, path: [1] })
  turn.items.push(done)
  turn.items.close()
  const deltas = (await readEvents(turn)).map(({ delta }) => delta ?? '').join('')
  t.equal(deltas, done.text)
})

t.test('a key that loses its rights ends the stream with an error', async (t) => {
  const turn = turnWith({ status: 'completed', done: doneWith('') })
  turn.items.push(token('One'))
  const ending = new AbortController()
  const all = readEvents(turn, {}, ending.signal)
  ending.abort(refusal('invalid_api_key'))
  const last = (await all).at(-1)
  t.match(last, { type: 'error', code: 'invalid_api_key', message: String, param: null })
  t.match(last.error, { type: 'authentication_error', code: 'invalid_api_key', param: null })
})
