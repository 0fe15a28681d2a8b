import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { blobFiles, filesIn } from '../../support/blob-files.ts'
import { user } from '../../support/client.ts'
import { audioPart, filePart, imagePart, pdf, png, textPart, wav } from '../../support/media.ts'
import type { Organization } from '../../support/platform.ts'
import { startApp, startChat } from '../../support/server.ts'

const messagesWith = (...content: readonly object[]) => [{ role: 'user', content }]
const messagesOf = (session: string) => `/api/external/sessions/${session}/messages`

const allScopes = [
  'orchestrator:invoke',
  'sessions:messages',
  'sessions:delete',
  'sessions:read',
  'users:provision',
  'users:delegate',
]
const users = '/api/external/management/users'

/** A key with its organization, and a user whom that has provisioned. */
const withUser = async (organization: Organization) => {
  const key = await organization.key({ scopes: allScopes })
  const { organizationId: organization_id } = organization
  const person = { email: 'ann@example.com', organization_id }
  const { user_id } = (await key.ask('POST', users, person)).body
  return {
    key,
    on_behalf_of: user_id as string,
    erase: (session: string) => key.ask('DELETE', `${users}/${user_id}/sessions/${session}`),
  }
}

const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

t.test('messages list their files with links; erasing the session ends both', async (t) => {
  const data = await folder()
  const server = await startApp(t, { DATA_DIR: data })
  const organization = await server.platform.organization()
  const { key, on_behalf_of, erase } = await withUser(organization)
  const image = png(640, 480, 150_000)
  const sound = wav(3_000)
  const bill = pdf(2_000)
  const content = [
    textPart('See'),
    { ...imagePart(image), image_url: { ...imagePart(image).image_url, detail: 'high' } },
    audioPart(sound),
    filePart(bill, 'Rechnung März.pdf'),
  ]
  const session_id = 'seen'
  const { status, body } = await key.chat({
    session_id,
    on_behalf_of,
    messages: messagesWith(...content),
  })
  t.equal(status, 200, JSON.stringify(body))

  const forAnn = `?on_behalf_of=${on_behalf_of}`
  const { messages } = (await key.ask('GET', `${messagesOf(session_id)}${forAnn}`)).body
  const { event_id, parts } = messages[0]
  t.match(messages[0], { content: 'See', event_type: 'user_message' })
  t.match(parts, [
    {
      id: `${event_id}_0`,
      kind: 'image',
      media_type: 'image/png',
      bytes: 150_000,
      width: 640,
      height: 480,
      detail: 'high',
      url: /^http/,
    },
    { id: `${event_id}_1`, kind: 'audio', media_type: 'audio/wav', bytes: 3_000 },
    { kind: 'file', media_type: 'application/pdf', name: 'Rechnung März.pdf' },
  ])
  t.notOk('parts' in messages[1])
  t.notOk(parts.some((part: object) => 'blob' in part || 'at' in part))
  const message = await key.ask('GET', `${messagesOf(session_id)}/${event_id}${forAnn}`)
  t.strictSame(message.body.parts.length, 3)

  const links = parts.map(({ url }: { url: string }) => url)
  const replies = await Promise.all(links.map((link: string) => fetch(link)))
  const bodies = await Promise.all(
    replies.map(async (reply) => Buffer.from(await reply.arrayBuffer())),
  )
  t.ok(bodies[0]?.equals(image) && bodies[1]?.equals(sound) && bodies[2]?.equals(bill))
  t.strictSame(
    replies.map(({ headers }) => headers.get('content-type')),
    ['image/png', 'audio/wav', 'application/pdf'],
  )
  t.strictSame(
    replies.map(({ headers }) => headers.get('content-disposition')),
    ['inline', 'inline', "attachment; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf"],
  )
  const ranged = await fetch(links[0], { headers: { range: 'bytes=70000-70009' } })
  t.equal(ranged.status, 206)
  t.ok(Buffer.from(await ranged.arrayBuffer()).equals(image.subarray(70_000, 70_010)))
  const forged = links[0].replace(`${event_id}_0`, `${event_id}_1`)
  t.equal((await fetch(forged)).status, 404, 'a link is for one file')

  t.equal((await blobFiles(data)).length, 3)
  t.strictSame(await readdir(join(data, 'arriving')), [], 'nothing is left of what has arrived')
  for (const path of await filesIn(data)) t.notMatch(path, /Rechnung/)

  const other = await organization.key({ scopes: ['sessions:messages'] })
  t.equal((await other.ask('GET', messagesOf(session_id))).status, 404)

  t.match(await erase(session_id), { status: 200, body: { deleted: 1 } })
  for (const link of links) t.equal((await fetch(link)).status, 404)
  t.strictSame(await blobFiles(data), [], 'the files are gone')
})

t.test('the history of an organization has references alone', async (t) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const key = await organization.key()
  await key.chat({ session_id: 's', messages: messagesWith(filePart(pdf(), 'secret plan.pdf')) })
  const audit = `/organizations/${organization.organizationId}/audit`
  const { events } = await server.platform.ask('GET', `${audit}/events?type=UserMessageSent`)
  t.match(events[0].data.parts, [
    { kind: 'file', mediaType: 'application/pdf', bytes: 64, name: 'secret plan.pdf' },
  ])
  t.match(events[0].data.parts[0].blob, /^[0-9a-f]{64}$/)
  const state = await server.platform.ask('GET', `${audit}/state?view=messages`)
  const text = JSON.stringify(state)
  t.match(text, '"name":"secret plan.pdf"')
  t.notMatch(text, events[0].data.parts[0].blob)
})
t.test('a fork has files of its own, and so has a turn that is asked again', async (t) => {
  const data = await folder()
  const modalities = { LLM_MODALITIES: '{"test/*":["image"]}', DATA_DIR: data }
  const { provider, organization } = await startChat(t, undefined, {}, modalities)
  const { key, on_behalf_of, erase } = await withUser(organization)
  const forAnn = `?on_behalf_of=${on_behalf_of}`
  const content = [textPart('Look'), imagePart(png(4, 3, 90_000))]
  const session_id = 'source'
  await key.chat({ session_id, on_behalf_of, messages: messagesWith(...content) })
  await key.chat({ session_id, on_behalf_of, messages: user('And?') })

  const forked = await key.ask('POST', `/api/external/sessions/${session_id}/fork`, {
    on_behalf_of,
  })
  t.equal(forked.status, 201, JSON.stringify(forked.body))
  const fork = forked.body.session_id
  t.equal((await blobFiles(data)).length, 2, 'each has its own bytes')

  const { messages } = (await key.ask('GET', `${messagesOf(session_id)}${forAnn}`)).body
  const again = await key.ask(
    'POST',
    `${messagesOf(session_id)}/${messages[1].event_id}/regenerate`,
    { on_behalf_of },
  )
  t.equal(again.status, 200, JSON.stringify(again.body))
  t.strictSame(provider.requests.at(-1)?.body.messages.at(-1)?.content, content)

  t.match(await erase(session_id), { status: 200 })
  const copy = (await key.ask('GET', `${messagesOf(fork)}${forAnn}`)).body.messages[0]
  t.match(copy, { content: 'Look', parts: [{ id: `${copy.event_id}_0`, width: 4, height: 3 }] })
  const link = await fetch(copy.parts[0].url)
  t.ok(Buffer.from(await link.arrayBuffer()).equals(png(4, 3, 90_000)))
  await key.chat({ session_id: fork, on_behalf_of, messages: user('Still there?') })
  t.strictSame(
    provider.requests.at(-1)?.body.messages.filter(({ content }) => Array.isArray(content)),
    messagesWith(...content),
  )
})
