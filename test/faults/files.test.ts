import { readdir, watch } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { imagePart, png, textPart } from '../support/media.ts'
import { providerDouble } from '../support/provider-double.ts'
import { startServer } from '../support/server.ts'

// Four lives of a server.
t.setTimeout(300_000)

const picture = png(640, 480, 6_000_000)

/** Resolves once so many things have happened in a folder; looking begins at once. */
const happened = async (folder: string, count: number) => {
  let seen = 0
  for await (const _ of watch(folder)) if (++seen === count) return
}

t.test(
  'killed while a file of a message is stored: the message has its file, or was never accepted',
  async (t) => {
    const provider = await providerDouble({ text: 'A square.' })
    t.teardown(provider.close)
    const server = await startServer(t, {
      LLM_BASE_URL: provider.url,
      LLM_MODEL: 'test/model',
      LLM_MODALITIES: '{"test/*":["image"]}',
    })
    const { key } = await (await server.platform.organization()).key()
    const incoming = join(server.path, 'blobs', 'incoming')
    const never = new Promise(() => undefined)
    const hold = { text: 'A square.', hold: { after: 0, until: never } }
    const moments: Record<string, () => Promise<unknown>> = {
      'its bytes begin to be written': () => happened(incoming, 1),
      'it gets its name': () => happened(incoming, 2),
      'the model is asked': () => provider.received(provider.requests.length + 1),
    }
    for (const [n, [moment, arrives]] of Object.entries(moments).entries()) {
      const session_id = `session-${n}`
      const content = [textPart('What is this?'), imagePart(picture)]
      const body = { messages: [{ role: 'user', content }], session_id }
      if (moment === 'the model is asked') provider.next(hold)
      const arrived = arrives()
      const reply = server
        .as(key)
        .chat(body)
        .catch(() => undefined)
      await arrived
      await server.kill9()
      await reply
      await server.restart()
      const client = server.as(key)
      const stored = await client.messages(session_id)
      if (stored.status === 404) {
        t.pass(`${moment}: it was never accepted`)
        t.equal((await client.chat(body)).status, 200, 'and can be sent again')
      } else
        await eventually(async () => {
          const { body } = await client.status(session_id)
          return body.is_processing === false
        })
      const [message] = (await client.messages(session_id)).body.messages
      const file = await fetch(message.parts[0].url)
      t.equal(file.status, 200, `${moment}: the message has its file`)
      t.ok(Buffer.from(await file.arrayBuffer()).equals(picture), 'and all of it')
      t.strictSame(await readdir(incoming), [], 'nothing is left half written')
      t.strictSame(await readdir(join(server.path, 'arriving')), [], 'nothing waits any more')
    }
  },
)
