import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { textOf, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { needsMongo, ownDatabase } from '../../support/mongo.ts'
import { startServer } from '../../support/server.ts'

t.test(
  'the server on MongoDB: chat, stream, read back, kill -9, rebuild',
  needsMongo,
  async (t) => {
    const server = await startServer(t, { MONGODB_URL: await ownDatabase(t) })
    const organization = await server.platform.organization()
    const { key } = await organization.key()

    const completion = await server.as(key).chat({ messages: user('Hello'), session_id: 's-1' })
    t.match(completion, { status: 200, body: { object: 'chat.completion', session_id: 's-1' } })
    const stream = await server.as(key).stream({ messages: user('Again'), session_id: 's-1' })
    const frames = await stream.all()
    t.equal(frames.at(-1)?.data, '[DONE]')
    // On a slow database a request stops waiting for the read models before they show its events.
    const listing = await eventually(async () => {
      const reply = await server.as(key).messages('s-1')
      return reply.body.messages?.length === 4 ? reply : undefined
    })
    t.strictSame(
      listing.body.messages.map(({ content }: { content: string }) => content),
      ['Hello', completion.body.choices[0].message.content, 'Again', textOf(frames)],
    )

    await server.kill9()
    await server.restart()
    t.strictSame((await server.as(key).messages('s-1')).body, listing.body, 'as before the crash')

    type Status = { name: string; state: string; error?: string }
    const statuses = async (): Promise<Status[]> =>
      (await server.platform.ask('GET', '/projections')).projections
    /** Until no read model is in a state; each look is a request. */
    const none = async (state: string) => {
      while ((await statuses()).some((status) => status.state === state)) await after(50)
    }
    await none('elsewhere')
    for (const { name } of await statuses())
      await server.platform.ask('POST', `/projections/${name}/rebuild`)
    await none('rebuilding')
    for (const { name, error } of await statuses()) t.equal(error, undefined, `${name} is rebuilt`)
    t.strictSame((await server.as(key).messages('s-1')).body, listing.body, 'as before the rebuild')
    t.match((await server.as(key).sessions()).body, { total: 1, sessions: [{ message_count: 4 }] })
    t.equal(await server.stop(), 0)
  },
)
