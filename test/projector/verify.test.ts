import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { z } from 'zod'
import { projections, readModels } from '../../projections/all.ts'
import { openStores } from '../../src/app/stores.ts'
import type { EventTable } from '../../src/domain/aggregate.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { decoder } from '../../src/event-sourcing/codec.ts'
import { START } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import type { Document } from '../../src/ports/views.ts'
import { eventually } from '../support/eventually.ts'
import { formats } from '../support/open-api.ts'
import { platform as platformOf, superAdminKey } from '../support/platform.ts'
import { at } from '../support/positions.ts'
import { reprise } from '../support/reprise.ts'
import { startServer } from '../support/server.ts'
import { workload } from '../support/workload.ts'

/** What a short, healthy life has no occasion for, or tells the platform alone. */
const rare = [
  'AccessRefusalsSummarized',
  'AccessRefusedAgain',
  'MessageReadsSummarized',
  'MessagesRead',
  'MessagesReadAgain',
  'AddressChanged',
  'AgentRouted',
  'ApprovalExpired',
  'ApprovalWithdrawn',
  'ContentErased',
  'EmailReleased',
  'IdentityClaimed',
  'IdentityLinked',
  'InvitationsSettled',
  'KeysRegistered',
  'MemberAccountChanged',
  'MemoriesErased',
  'MemoryForgotten',
  'OrganizationColored',
  'OutageEnded',
  'RunCancelled',
  'RunCleared',
  'RunDequeued',
  'RunFailed',
  'RunHandedOver',
  'RunLimitReached',
  'RunTimedOut',
  'ToolOutcomeTold',
  'UploadEmbedded',
  'UploadFailed',
  'UploadProcessingStarted',
  'UploadReread',
  'UploadRereadingStarted',
  'UploadRequeued',
  'WelcomeLinkCreated',
  'WelcomeLinkUsed',
]

const categoryOf = (stream: string) =>
  stream.slice(0, stream.indexOf('-')) as keyof typeof eventsByCategory

/** What is only there while work is cut off. */
const passing = ['forks', 'unreadable_events']

/** What is recorded some time after the requests that it counts. */
const late = ['AccessRefused', 'ApiKeyUsed']

/** Signs in to the console; what a browser sends with later requests. */
const signIn = async (url: string, api_key: string) => {
  const reply = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key }),
  })
  const { csrf_token } = (await reply.json()) as { csrf_token: string }
  const [cookie = ''] = (reply.headers.get('set-cookie') ?? '').split(';')
  return { origin: url, cookie, 'x-csrf-token': csrf_token }
}

const signInAndOut = async (url: string, key: string): Promise<void> => {
  await fetch(`${url}/console/session`, { method: 'DELETE', headers: await signIn(url, key) })
}

t.test('live views are what the log comes to, after something of everything', async (t) => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(DATA_DIR, { recursive: true, force: true }))
  const server = await startServer(t, { DATA_DIR })
  const platform = platformOf(server.url)
  const [firstLoad, secondLoad] = [await workload(platform), await workload(platform)]
  t.not(firstLoad.organizationId, secondLoad.organizationId)

  await signInAndOut(server.url, firstLoad.keys.own.key)
  await signIn(server.url, firstLoad.keys.own.key)

  const admin = server.as(superAdminKey)
  const types = new Set<string>()
  for (const organizationId of [firstLoad.organizationId, secondLoad.organizationId]) {
    const path = `/api/admin/organizations/${organizationId}/audit/events?limit=500`
    const seen = await eventually(async () => {
      const { events } = (await admin.ask('GET', path)).body
      const names: string[] = events.map(({ type }: { type: string }) => type)
      return late.every((type) => names.includes(type)) ? names : undefined
    })
    for (const type of seen) types.add(type)
    for (const view of readModels.keys()) {
      const at = `/api/admin/organizations/${organizationId}/audit/state?view=${view}&limit=500`
      const { status, body } = await admin.ask('GET', at)
      t.equal(status, 200, view)
      for (const { document } of body.documents)
        t.ok(
          readModels.get(view)?.shown.schema.safeParse(document).success,
          `${view} keeps its schema`,
        )
    }
  }
  const known = Object.values(eventsByCategory).flatMap((table) => Object.keys(table))
  const unseen = known.filter((type) => !types.has(type) && !rare.includes(type))
  t.strictSame(unseen, [])

  t.match(await reprise('projections verify', { DATA_DIR }), { code: 1, err: /in use by process/ })
  await server.stop()
  const sound = await reprise('projections verify', { DATA_DIR })
  t.match(sound, { code: 0, err: '' }, sound.out)
  for (const { name } of projections) t.match(sound.out, `${name}: `)
  t.match(await reprise('projections verify nothing', { DATA_DIR }), { code: 2 })

  const { views, events, close } = await openStores({ DATA_DIR }, silent)
  const changed: string[] = []
  for await (const batch of events.history(START))
    for (const event of batch) {
      const table: EventTable = eventsByCategory[categoryOf(event.stream)]
      const { data } = decoder(table)(event)
      if (!isDeepStrictEqual(data, event.data)) changed.push(event.type)
    }
  t.strictSame(changed, [], 'what is decided is what its schema gives: it is folded unparsed')
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats })
  for (const projection of projections) {
    const fits = ajv.compile(z.toJSONSchema(projection.schema))
    const faults: string[] = []
    let count = 0
    for await (const batch of (await views.view<Document>(projection)).all())
      for (const { document } of batch) {
        count++
        if (!fits(document)) faults.push(ajv.errorsText(fits.errors))
      }
    t.strictSame(faults, [], `${projection.name} stores what its schema says`)
    t.equal(count > 0, !passing.includes(projection.name), `${projection.name} has documents`)
  }
  const agents = projections.find(({ name }) => name === 'agents')
  if (!agents) throw new Error('no agents')
  const view = await views.view<Document>(agents)
  const all: { id: string; document: Document }[] = []
  for await (const batch of view.all()) all.push(...batch)
  const [first, second] = all
  const position = at((await views.checkpoint('agents')) + 1)
  const changes = [
    { id: first?.id ?? '', document: { ...first?.document, name: 'Forged' } },
    { id: second?.id ?? '', document: undefined },
    { id: 'made-up', document: { agent_id: 'made-up' } },
  ]
  await views.commit([{ view: 'agents', changes, position }])
  await close()
  const forged = await reprise('projections verify agents', { DATA_DIR })
  t.match(forged, { code: 1, err: '3 documents differ' })
  t.match(forged.out, `agents: ${first?.id} is not what the log makes of it`)
  t.match(forged.out, `agents: ${second?.id} is missing`)
  t.match(forged.out, 'agents: made-up is not in the log')
})
