import t from 'tap'
import { offlineContentProvider } from '../../src/adapters/generation/offline-provider.ts'
import { accountStream, decideGrant, effectiveBalance } from '../../src/domain/account/account.ts'
import { contentStream } from '../../src/domain/content/content.ts'
import { START } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { sessionKey } from '../../src/security/vault.ts'
import { contentGeneration } from '../../src/tools/request-content.ts'
import { generateContent } from '../../src/workers/generate-content.ts'
import { type Commanded, commanded } from '../support/commanded.ts'
import { eventually } from '../support/eventually.ts'
import { gathered } from '../support/noted.ts'
import { call } from '../support/recorded.ts'

const provider = offlineContentProvider()
const fox = { prompt: 'A fox', contentType: 'image', sessionId: 's-1', runId: 'run-1' } as const

const accountOf = async ({ load }: Commanded) => {
  const { state } = await load(accountStream('user-1'))
  const { balance } = state
  return { balance, held: balance - effectiveBalance(state) }
}

t.test('a request for two forms makes both, repeated or not', async (t) => {
  const all = await commanded(t)
  const generation = contentGeneration({ ...all, provider })
  const grant = decideGrant({ grantId: 'g-1', amount: 1_000_000, reason: 'test' })
  await all.transact(accountStream('user-1'), grant, call)
  const repeated = { ...call, scope: 'key-1/once' }
  const ids = new Set<string>()
  for (let n = 0; n < 2; n++)
    for (const contentType of ['image', 'audio'] as const)
      ids.add((await generation.request({ ...fox, contentType }, repeated)).id)
  t.equal(ids.size, 2)
  for (const id of ids) {
    const events = await gathered(all.store.read(contentStream('org-1', id).name))
    t.match(events, [{ type: 'ContentRequested', data: { sessionId: 's-1' } }])
  }
  t.equal((await accountOf(all)).held, 60_000)
})

t.test('a request in an erased session is not executed', async (t) => {
  const all = await commanded(t)
  const { id } = await contentGeneration({ ...all, provider }).request(fox, call)
  await all.seen()
  await all.vault.destroy(sessionKey('org-1', 's-1'))
  const { contents } = all.read
  const findRequestId = async () => undefined
  const worker = generateContent({
    ...all,
    contents,
    provider,
    quotas: { isFull: async () => false },
    findRequestId,
    node: 'node-1',
    log: silent,
  })
  t.teardown(worker.stop)
  await worker.sweep()
  const item = await eventually(async () => {
    const view = await contents.get(id)
    return view?.status === 'failed' && view
  })
  t.match(item, { error_message: 'The request was erased', charge: 0 })
  t.equal((await accountOf(all)).held, 0)
})

for (const [title, by] of [
  ['no user to own it', { userId: null, onBehalfOf: null }],
  ['an end user and nobody to pay', { userId: null, onBehalfOf: 'user-2' }],
] as const)
  t.test(`a request with ${title} is refused: delegation_not_allowed`, async (t) => {
    const all = await commanded(t)
    const generation = contentGeneration({ ...all, provider })
    await t.rejects(generation.request(fox, { ...call, ...by }), { code: 'delegation_not_allowed' })
    t.equal(await all.store.head(), START, 'nothing is stored')
  })
