import t from 'tap'
import { type Client, contents, type Frame, isToken, textOf, user } from '../../support/client.ts'
import { held } from '../../support/held.ts'
import { movableClock, startChat } from '../../support/server.ts'

const messages = user('Hi')

/** As text, which is quick to compare. */
const lines = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).join('\n')

/** Ids differ between a stream that was told live and one rebuilt from the log. */
const dataOf = (frames: readonly Frame[]) => frames.map(({ data }) => data)

const after = async (key: Client, session: string, id: string | undefined, query?: string) => {
  const headers = id === undefined ? {} : { 'last-event-id': id }
  const stream = await key.attach(session, { headers }, query)
  return stream.all()
}

t.test('re-attach to the running turn, from its start', async (t) => {
  const { key, provider } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const session_id = 'start'
  const first = await key.stream({ messages, session_id })
  const seen = [await first.until(isToken)]
  const second = await key.attach(session_id)
  t.match(second.headers.get('content-type'), /^text\/event-stream/)
  turn.go()
  seen.push(...(await first.all()))
  const again = await second.all()
  t.equal(textOf(again.slice(0, -1)), turn.text)
  t.strictSame(again.slice(-seen.length), seen, 'the same items under the same ids')
  t.match(again[0]?.data, { choices: [{ delta: { role: 'assistant' } }] })
})

t.test('an id that was never sent is none: the turn is told from its start', async (t) => {
  const { key, provider } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const session_id = 'beyond'
  const first = await key.stream({ messages, session_id })
  const { id } = await first.until(isToken)
  const beyond = id.replace(/:\d+\.\d+:/, ':999999.0:')
  const running = await key.attach(session_id, { headers: { 'last-event-id': beyond } })
  turn.go()
  await first.all()
  const frames = await after(key, session_id, undefined)
  t.strictSame(await running.all(), frames, 'while it runs')
  t.strictSame(await after(key, session_id, beyond), frames, 'and after its end')
})

t.test('headers go out at once, also where there is nothing to tell yet', async (t) => {
  const { key, provider } = await startChat(t, undefined, { keepAliveMs: 3_600_000 })
  const turn = held()
  provider.next(turn.reply)
  const first = await key.stream({ messages, session_id: 'quiet' })
  await first.until(isToken)
  const { id } = await first.until(isToken)
  const again = await key.attach('quiet', { headers: { 'last-event-id': id } })
  t.equal(again.status, 200)
  turn.go()
  t.strictSame(await again.all(), await first.all())
})

t.test('from Last-Event-ID, wherever it was cut: nothing lost, nothing twice', async (t) => {
  const text = 'A goodbye in words, ünï¢ode 😀 included.'
  const { key, provider, server } = await startChat(t, { text })
  const running = held({ text })
  provider.next(running.reply)
  const session_id = 'cut'
  const options = { include_usage: true }
  const live = await key.stream({ messages, session_id, stream_options: options })
  const start: Frame[] = []
  for await (const frame of {
    [Symbol.asyncIterator]: () => ({ next: () => live.frames.next() }),
  }) {
    start.push(frame)
    if (start.filter(isToken).length === 2) break
  }
  const attached = await Promise.all(
    start.map(({ id }) =>
      key.attach(session_id, { headers: { 'last-event-id': id } }, '?include_usage=true'),
    ),
  )
  running.go()
  const frames = [...start, ...(await live.all())]
  for (const [n, stream] of attached.entries())
    t.equal(lines(await stream.all()), lines(frames.slice(n + 1)), `while it runs, after item ${n}`)
  for (const [n, { id }] of frames.entries())
    t.equal(
      lines(await after(key, session_id, id, '?include_usage=true')),
      lines(frames.slice(n + 1)),
      `after its end, after item ${n}`,
    )

  await server.restart()
  const restarted = server.as(key.key)
  const isEvent = ({ data }: Frame) => Boolean(data.event)
  for (const [n, { id }] of frames.entries()) {
    const rest = await after(restarted, session_id, id, '?include_usage=true')
    const expected = frames.slice(n + 1).filter((frame) => !isEvent(frame))
    t.equal(
      textOf(rest.filter(({ data }) => data.choices)),
      textOf(expected.filter(({ data }) => data.choices)),
      `after a restart, after item ${n}: the rest of the text`,
    )
    t.equal(
      lines(dataOf(rest.filter((frame) => !isToken(frame)))),
      lines(dataOf(expected.filter((frame) => !isToken(frame)))),
      `after a restart, after item ${n}: the rest of the chunks`,
    )
  }
  const fresh = await after(restarted, session_id, undefined)
  t.equal(textOf(fresh.slice(0, -1)), text, 'rebuilt from the log')
  t.match(fresh[0]?.data, { choices: [{ delta: { role: 'assistant' } }] })
  t.equal(fresh.at(-1)?.data, '[DONE]')
})

t.test('a re-attached stream can be cut and continued in turn', async (t) => {
  const { key, server } = await startChat(t, { text: 'one two three' })
  const session_id = 'chain'
  await key.chat({ messages, session_id })
  await server.restart()
  const restarted = server.as(key.key)
  const frames = await after(restarted, session_id, undefined)
  for (const [n, { id }] of frames.entries())
    t.equal(
      lines(await after(restarted, session_id, id)),
      lines(frames.slice(n + 1)),
      `after item ${n}`,
    )
})

t.test('the last turn is re-read, however it was asked for', async (t) => {
  const { key, provider } = await startChat(t)
  const session_id = 'mixed'
  provider.next({ text: 'Streamed.' }, { text: 'Whole.' })
  await (await key.stream({ messages, session_id })).all()
  await key.chat({ messages: user('Again'), session_id })
  t.equal(textOf((await after(key, session_id, undefined)).slice(0, -1)), 'Whole.')
})

t.test('Last-Event-ID of an earlier turn continues that turn', async (t) => {
  const { key, provider } = await startChat(t)
  const session_id = 'earlier'
  provider.next({ text: 'First one.' }, { text: 'Second one.' })
  const first = await (await key.stream({ messages, session_id })).all()
  await (await key.stream({ messages, session_id })).all()
  t.strictSame(await after(key, session_id, first[1]?.id), first.slice(2))
  const fresh = await after(key, session_id, 'nonsense')
  t.equal(textOf(fresh.slice(0, -1)), 'Second one.', 'an unknown place is the start')
  const other = await (await key.stream({ messages, session_id: 'other' })).all()
  t.equal(
    textOf((await after(key, session_id, other[1]?.id)).slice(0, -1)),
    'Second one.',
    'a place in another session is none here',
  )
})

t.test('an agent’s stream goes on as it began, also after a restart', async (t) => {
  const { key, organization, server } = await startChat(t, { text: 'one two three' })
  const id = await organization.agent({ name: 'Clerk' })
  const session_id = 'agent'
  const path = `/api/external/agents/${id}/completions`
  const live = await key.open('POST', path, { message: 'Hi', stream: true, session_id })
  const frames = await live.all()
  for (const [n, { id }] of frames.entries())
    t.equal(lines(await after(key, session_id, id)), lines(frames.slice(n + 1)), `after item ${n}`)
  t.strictSame(await after(key, session_id, undefined), frames, 'from its start')
  await server.restart()
  const restarted = server.as(key.key)
  const last = frames.slice(-2)
  for (const [n, { id }] of frames.entries()) {
    const rest = await after(restarted, session_id, id)
    t.equal(
      lines(dataOf(rest.slice(-2))),
      lines(dataOf(n < frames.length - 2 ? last : frames.slice(n + 1))),
    )
    t.equal(textOf(rest.slice(0, -1)), textOf(frames.slice(n + 1, -1)), `after item ${n}: the text`)
  }
})

t.test('a failed turn is re-read as it failed', async (t) => {
  const { key, server } = await startChat(t, { text: 'one two', cutAfter: 2 })
  const session_id = 'failed'
  const live = await (await key.stream({ messages, session_id })).all()
  t.strictSame(await after(key, session_id, live.at(-2)?.id), live.slice(-1))
  await server.restart()
  const again = await after(server.as(key.key), session_id, live.at(-3)?.id)
  t.strictSame(dataOf(again), dataOf(live.slice(-2)))
  t.strictSame(dataOf(await after(server.as(key.key), session_id, live.at(-2)?.id)), ['[DONE]'])
})

t.test('after the turn’s end the answer can be re-read for 10 minutes', async (t) => {
  const clock = movableClock()
  const { key } = await startChat(t, { text: 'Hello' }, { clock })
  await (await key.stream({ messages, session_id: 'old' })).all()
  clock.advance(9 * 60_000)
  t.equal(textOf((await after(key, 'old', undefined)).slice(0, -1)), 'Hello')
  clock.advance(61_000)
  const late = await key.attach('old')
  t.equal(late.status, 404)
  t.equal(late.headers.get('x-error-code'), 'stream_not_found')
  await late.reply.text()
})

t.test('re-attaching needs sessions:messages and a session of one’s own', async (t) => {
  const { key, organization } = await startChat(t)
  await key.chat({ messages, session_id: 'mine' })
  const refused = async (other: Client, session: string) => {
    const { status, headers, reply } = await other.attach(session)
    await reply.text()
    return [status, headers.get('x-error-code')]
  }
  const reader = await organization.key({ scopes: ['sessions:read'] })
  t.strictSame(await refused(reader, 'mine'), [403, 'insufficient_scopes'])
  t.strictSame(await refused(await organization.key(), 'mine'), [404, 'session_not_found'])
  t.strictSame(await refused(key, 'unknown'), [404, 'session_not_found'])
})

t.test('a session can be read as soon as its stream has begun', async (t) => {
  const { key, provider } = await startChat(t)
  for (let n = 0; n < 10; n++) {
    const turn = held()
    provider.next(turn.reply)
    const session_id = `new-${n}`
    const stream = await key.stream({ messages, session_id })
    const { status, body } = await key.status(session_id)
    t.equal(status, 200)
    t.equal(body.is_processing, true)
    t.strictSame(await contents(key, session_id), ['Hi'])
    turn.go()
    await stream.all()
  }
})
