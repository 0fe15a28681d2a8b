import { alike } from './alike.ts'
import { contractOf, operationsOf } from './open-api.ts'
import { superAdminKey } from './platform.ts'
import { type Answer, raw } from './raw.ts'
import { rounds } from './rounds.ts'
import type { workload } from './workload.ts'

/** The GET routes of the OpenAPI document. */
export const getRoutes = async (url: string): Promise<string[]> =>
  operationsOf(await contractOf(url)).flatMap(({ path, method }) =>
    method === 'get' ? [path] : [],
  )

/** One answer, without what differs between two runs of one workload. */
export type PlainAnswer = {
  route: string
  asked: string
  status: number
  type: string
  body: unknown
}

type Worked = Awaited<ReturnType<typeof workload>>
type Named = Record<string, string>

const ndjson = { accept: 'application/x-ndjson' }

/** Positions and a time among an organization's events; just behind and before an event is none. */
const placesIn = (events: readonly { position: number; metadata: { at: string } }[]) => {
  const [tenth, thirtieth] = [events[9], events[29]]
  return {
    event: `${tenth?.position}`,
    behind: `${Number(tenth?.position) + 1}`,
    before: `${Number(thirtieth?.position) - 1}`,
    later: `${thirtieth?.position}`,
    time: thirtieth?.metadata.at ?? '',
  }
}

/** What there is in an organization after a workload, by the names that paths have for it. */
const namesIn = async (url: string, organization: Worked) => {
  const { organizationId } = organization
  const { all, own } = organization.keys
  const ask = async (key: string, path: string) =>
    (await raw(url)(path, { headers: { 'x-api-key': key } })).body
  const admin = (path: string) =>
    ask(superAdminKey, `/api/admin/organizations/${organizationId}${path}`)
  const external = (path: string) => ask(all.key, `/api/external${path}`)
  const idOf = (items: Record<string, string>[], field: string, value: string, id: string) =>
    items.find((item) => item[field] === value)?.[id] ?? ''

  const agent_id = idOf((await admin('/agents')).agents, 'name', 'Studio', 'agent_id')
  const stores = (await external('/rag/datastores')).datastores
  const datastore_id = idOf(stores, 'display_name', 'Lasting', 'datastore_id')
  const uploads = (await external(`/rag/uploads?datastore_id=${datastore_id}`)).uploads
  const [user] = (await external('/management/users')).users
  const content = (await external('/content?status=completed')).items[0]
  const [message] = (await external('/sessions/s-1/messages')).messages
  const events = (await admin('/audit/events?limit=500')).events
  const started = (await admin('/audit/events?session_id=s-1&type=RunStarted')).events
  const feeds = (await admin('/feeds')).feeds
  return {
    keys: { admin: superAdminKey, all: all.key, own: own.key },
    readModels: feeds.map(({ read_model }: { read_model: string }) => read_model) as string[],
    file: content.storage_url as string,
    named: {
      ...placesIn(events),
      organization_id: organizationId,
      agent_id,
      model_id: 'svc-orchestrator',
      datastore_id,
      upload_id: uploads[0].upload_id,
      user_id: user.user_id,
      content_id: content.id,
      session_id: 's-1',
      event_id: message.event_id,
      response_id: `resp_${started[0].data.runId}`,
      run_id: started[0].data.runId,
    } as Named,
  }
}

type World = Awaited<ReturnType<typeof namesIn>>
type Get = { query?: string; headers?: Record<string, string> }

const places = ['time', 'event', 'behind', 'later']

/** For everyday one of what is asked alike, each in its turn; in the long form all. */
const inTurn = <T>(all: readonly T[], n: number): T[] => {
  const step = rounds(all.length, 1)
  return all.filter((_, m) => m % step === n % step)
}

/** What is asked of a route; once, without a query, where nothing is said. */
const asksOf = ({ readModels }: World): Record<string, readonly Get[]> => {
  const audit = '/api/admin/organizations/{organization_id}/audit'
  const own = '/api/admin/platform/audit'
  const queries = (...all: readonly string[]): Get[] => all.map((query) => ({ query }))
  const lines = (...all: readonly string[]): Get[] =>
    all.map((query) => ({ query, headers: ndjson }))
  const resumed = ['after={event}', 'after={behind}', 'after={before}']
  return {
    '/api/external/management/users/{user_id}/connect-status': queries('agent_id={agent_id}'),
    [`${audit}/events`]: [
      ...queries('limit=500', 'limit=5', 'to={time}', 'from={time}&limit=500', 'type=AgentCreated'),
      ...queries('stream=organization-{organization_id}_{organization_id}', 'actor={user_id}'),
      ...queries('session_id={session_id}&limit=500', 'agent_id={agent_id}&limit=500'),
      ...queries(...resumed.map((after) => `${after}&limit=5`)),
      ...lines('', ...resumed),
    ],
    [`${own}/events`]: [
      ...queries(
        'limit=500',
        'type=SubscriptionChanged',
        'stream=user-{user_id}',
        'request_id=none',
      ),
      ...lines(''),
    ],
    [`${own}/proofs/inclusion`]: queries('index=1&size=2'),
    [`${own}/proofs/consistency`]: queries('from=1&to=2'),
    [`${own}/export`]: queries('from=0&to=2', ''),
    [`${own}/state`]: readModels.flatMap((view) => queries(`view=${view}`)),
    [`${own}/changes`]: readModels.flatMap((view) => queries(`view=${view}`)),
    [`${audit}/proofs/inclusion`]: queries('index=3&size=20', 'index=19&size=20'),
    [`${audit}/proofs/consistency`]: queries('from=5&to=20', 'from=16&to=20'),
    [`${audit}/export`]: queries('from=3&to=20', ''),
    [`${audit}/state`]: readModels.flatMap((view, n) => [
      ...queries(`view=${view}`, `view=${view}&limit=2`),
      ...queries(...inTurn(places, n).map((place) => `view=${view}&as_of={${place}}`)),
      ...lines(`view=${view}`),
    ]),
    [`${audit}/changes`]: readModels.flatMap((view, n) => [
      ...queries(`view=${view}&limit=2`),
      ...queries(...inTurn(places, n).map((place) => `view=${view}&from={event}&to={${place}}`)),
    ]),
    '/api/admin/organizations/{organization_id}/usage': queries(
      '',
      'by=day,agent_id,user_id,key_id,model',
    ),
    '/api/admin/organizations/{organization_id}/runs': queries(
      '',
      'sort=charge&limit=5',
      'sort=tokens&status=completed',
      'session_id={session_id}&from={time}',
      'user_id={user_id}&model=offline/extractive',
    ),
    '/api/admin/organizations/{organization_id}/runs/{run_id}': queries('', 'limit=1'),
    '/api/admin/organizations/{organization_id}/feeds/{read_model}': lines('', ...resumed),
  }
}

/** Routes that the document leaves out: tiles have paths of any depth. */
const tiles = [
  '/api/admin/organizations/{organization_id}/audit/tile/0/000.p/20',
  '/api/admin/organizations/{organization_id}/audit/tile/entries/000.p/20',
  '/api/admin/platform/audit/tile/0/000.p/2',
  '/api/admin/platform/audit/tile/entries/000.p/2',
]

const keyFor = (path: string, { admin, all, own }: World['keys']): string => {
  if (path.startsWith('/api/admin/')) return admin
  return /\/me\//.test(path) ? own : all
}

const bodyOf = ({ headers, text, body }: Answer, route: string): unknown => {
  const type = headers['content-type'] ?? ''
  if (route.includes('/tile/')) return text.length > 0
  if (type.startsWith('application/json')) return alike(body)
  const lines = text.split('\n').map((line) => line.replace(/^data: (?=\{)/, ''))
  return alike(lines.map((line) => (line.startsWith('{') ? JSON.parse(line) : line)))
}

/** Every GET of the API on what a workload has made. */
export const everyGet = async (url: string, organization: Worked): Promise<PlainAnswer[]> => {
  const world = await namesIn(url, organization)
  const requests = asksOf(world)
  const answers: PlainAnswer[] = []
  const filled = (text: string, named: Named) =>
    text.replace(/\{(\w+)\}/g, (_, name: string) => named[name] ?? name)
  for (const route of [...(await getRoutes(url)), ...tiles]) {
    const names = route.includes('{read_model}') ? world.readModels : ['']
    const [first = {}, ...others] = requests[route] ?? []
    for (const [n, read_model] of names.entries())
      for (const { query = '', headers = {} } of [
        first,
        ...(read_model ? inTurn(others, n) : others),
      ]) {
        const named = { ...world.named, read_model }
        const path = route === '/files/{content_id}' ? world.file : filled(route, named)
        const address = `${path.replace(url, '')}${query && `?${filled(query, named)}`}`
        const request = { headers: { 'x-api-key': keyFor(route, world.keys), ...headers } }
        const answer = await raw(url)(address, request)
        answers.push({
          route,
          asked: `${route.replace('{read_model}', read_model)}?${query} ${headers.accept ?? ''}`,
          status: answer.status,
          type: String(answer.headers['content-type']),
          body: bodyOf(answer, route),
        })
      }
  }
  return answers
}
