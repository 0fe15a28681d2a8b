import t from 'tap'
import { readModels } from '../../projections/all.ts'
import type { ReadModel } from '../../projections/projection.ts'
import { opener } from '../../queries/opened.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { sealedPlaces } from '../../src/domain/sealed-places.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { recorded } from '../support/recorded.ts'

const sealed = (key: string, box: string) => ({ $sealed: key, box })
const own = 'session:org-1/s-1'
const clear = opener(async ({ $sealed, box }) => ($sealed.endsWith('gone') ? undefined : box))

const eventOf = (type: string, data: Record<string, unknown>, stream = 'session-org-1_s-1') => {
  const [event] = recorded([{ stream, type, data }])
  if (!event) throw new TypeError('no event')
  return event
}
const model = (name: string): ReadModel => {
  const readModel = readModels.get(name)
  if (!readModel) throw new TypeError(name)
  return readModel
}

t.test('a text is opened where the schema of its event has one', async (t) => {
  const data = { messageId: 'm-1', runId: 'r-1', agent: 'A', content: sealed(own, 'Hello') }
  const { event } = clear
  t.strictSame(await event(eventOf('AssistantMessageRecorded', data)), {
    ...data,
    content: 'Hello',
  })
  const erasedData = { ...data, content: sealed('session:org-1/gone', 'Hello') }
  t.match(await event(eventOf('UserMessageSent', erasedData)), { content: { erased: true } })
})

t.test('a box anywhere else is shown as it is stored', async (t) => {
  const box = sealed(own, 'Hello')
  const parameters = { type: 'object', properties: { a: { default: box, examples: [box] } } }
  const tools = [{ type: 'api_call', headers: { x: box }, parameters }]
  const data = { agentId: 'a-1', instruction: box, tools, content: box }
  t.strictSame(await clear.event(eventOf('AgentChanged', data, 'squad-org-1_org-1')), data)
  t.strictSame(await clear.event(eventOf('Unheard', data)), data, 'of an unknown event')
  const inside = { messageId: box, runId: [box], content: { text: box } }
  t.strictSame(await clear.event(eventOf('UserMessageSent', inside)), inside)
  const alike = { content: { ...box, more: 1 } }
  t.strictSame(await clear.event(eventOf('UserMessageSent', alike)), alike)
  const agent = { organization_id: 'org-1', instruction: box, tools }
  t.strictSame(await clear.document(model('agents'), agent), agent)
})

t.test('a key of another organization, or of nobody, opens nothing', async (t) => {
  const foreign = [
    'session:org-2/s-1',
    'session:org-10/s-1',
    'session:org-1',
    'session:/org-1/s-1',
    'organization:org-2',
    'organization:org-1/x',
    'memory:org-2/user-1',
    'member:org-2/user-1',
    'datastore:org-2/d-1',
    'credentials:org-2/user-1',
    'user:user-1',
    'user:org-1',
    'installation:keys',
    'made up',
    '',
  ]
  for (const key of foreign) {
    const content = sealed(key, 'Hello')
    const event = eventOf('UserMessageSent', { content })
    t.strictSame(await clear.event(event), { content }, key)
    const message = { organization_id: 'org-1', content }
    t.strictSame(await clear.document(model('messages'), message), message, key)
    t.strictSame(await clear.document(model('messages'), { content }), { content }, 'of no owner')
  }
  for (const key of [
    own,
    'organization:org-1',
    'memory:org-1/u',
    'member:org-1/u',
    'datastore:org-1/d',
  ])
    t.strictSame(
      await clear.event(eventOf('UserMessageSent', { content: sealed(key, 'Hello') })),
      { content: 'Hello' },
      key,
    )
})

t.test("a person's texts are opened in that person's stream only", async (t) => {
  const data = {
    email: sealed('user:user-1', 'a@example.com'),
    name: sealed('user:user-1', 'Olga'),
  }
  const registered = eventOf('UserRegistered', data, 'user-user-1')
  t.strictSame(await clear.event(registered), { email: 'a@example.com', name: 'Olga' })
  t.strictSame(await clear.event({ ...registered, stream: 'user-user-2' }), data)
})

t.test('credentials are withheld; sealed texts that do not open stay sealed', async (t) => {
  const { event, document } = opener(() => {
    throw new Error('not sealed by us')
  })
  const value = sealed('credentials:org-1/user-1', 'x')
  const stored = eventOf('CredentialStored', { name: 'A', value }, 'credentials-org-1_user-1')
  t.strictSame(await event(stored), { name: 'A', value: { withheld: true } })
  t.match(await document(model('credentials'), { organization_id: 'org-1', value }), {
    value: { withheld: true },
  })
  const content = sealed(own, 'x')
  t.strictSame(await event(eventOf('UserMessageSent', { content })), { content })
})

t.test('a store that is out of reach is an error', async (t) => {
  const { event } = opener(() => Promise.reject(new StoreUnavailable('the keys')))
  const sent = eventOf('UserMessageSent', { content: sealed(own, 'x') })
  await t.rejects(event(sent), { name: 'StoreUnavailable' })
})

t.test('every text that events and documents have sealed has a place', async (t) => {
  const placed = (schema: unknown): string[] => {
    const places = sealedPlaces(schema)
    return typeof places === 'object' && 'fields' in places ? [...places.fields.keys()] : []
  }
  const events = Object.values(eventsByCategory).flatMap((table) =>
    Object.entries(table).flatMap(([type, schema]) => placed(schema).map((at) => `${type}.${at}`)),
  )
  t.strictSame(events.toSorted(), [
    'AddressChanged.email',
    'ApprovalDecided.reason',
    'ApprovalRequested.arguments',
    'AssistantMessageRecorded.content',
    'AssistantMessageRecorded.toolCalls',
    'ClientToolAnswered.content',
    'ClientToolsCalled.state',
    'ContentRequested.input',
    'ContentRequested.prompt',
    'CredentialRotated.value',
    'CredentialStored.value',
    'KeysRegistered.check',
    'MemberAdded.email',
    'MemberAdded.name',
    'MemoryRemembered.text',
    'MessageForked.content',
    'MessageForked.parts',
    'MessageForked.toolCalls',
    'ModelAnswered.calls',
    'ModelAnswered.text',
    'RunPaused.text',
    'RunStarted.before',
    'RunStarted.echo',
    'RunStarted.request',
    'ToolCompleted.result',
    'ToolOutcomeTold.result',
    'ToolStarted.arguments',
    'UserMessageSent.content',
    'UserMessageSent.parts',
    'UserRegistered.email',
    'UserRegistered.name',
  ])
})
