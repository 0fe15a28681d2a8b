import t from 'tap'
import { isEmptyStore } from '../../src/app/check-keys.ts'
import { commandsOf } from '../../src/app/commands.ts'
import { seedDemo } from '../../src/app/demo.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { type Commanded, commanded } from '../support/commanded.ts'
import { platformCall } from '../support/recorded.ts'

const seed = (all: Commanded) =>
  seedDemo({
    ...all,
    uploadAndEnqueue: all.uploadFiles,
    hashEmail: all.secrets.hashEmail,
    isEmptyStore: () => isEmptyStore(all.store),
  })

t.test('an empty store gets a demo organization, once', async (t) => {
  const all = await commanded(t)
  const seeded = await seed(all)
  t.match(seeded, { key: /^svc_live_/ })
  await all.seen()
  const organization = await all.read.organizations.get(seeded?.organizationId ?? '')
  const orchestrator = await all.read.agents.get(organization?.orchestrator_agent_id ?? '')
  t.equal(orchestrator?.sub_agents.length, 3)
  for (const id of orchestrator?.sub_agents ?? [])
    t.match(await all.read.agents.get(id), { organization_id: seeded?.organizationId })
  const owner = organization?.owner_user_id ?? ''
  t.match(await all.read.users.get(owner), { plan: 'pro_monthly' })
  t.match(await all.read.accounts.get(owner), { balance: 1_000_000_000 })
  const head = await all.store.head()
  t.equal(await seed(all), undefined)
  t.equal(await all.store.head(), head)
})

t.test('a store with something in it is left alone', async (t) => {
  const all = await commanded(t)
  await all.createOrganization({ name: 'Acme', owner: { email: 'a@example.com' } }, platformCall)
  const head = await all.store.head()
  t.equal(await seed(all), undefined)
  t.equal(await all.store.head(), head)
})

t.test('wherever it was cut short, the next start completes it', async (t) => {
  const complete = await commanded(t)
  await seed(complete)
  const length = await complete.store.head()
  for (let cut = 1; cut <= 30; cut++) {
    const all = await commanded(t)
    let appends = 0
    const { clock, snapshots, secrets, vault } = all
    const failing = transactor({
      clock,
      snapshots,
      store: {
        ...all.store,
        append: (...args) => {
          if (++appends > cut) throw new StoreUnavailable('cut')
          return all.store.append(...args)
        },
      },
    })
    const commands = commandsOf({
      transactor: failing,
      clock,
      blobs: all.blobs,
      secrets,
      vault,
      modelFault: () => undefined,
    })
    const first = seed({ ...all, ...commands, load: failing.load })
    const done = await first.then(
      () => true,
      () => false,
    )
    if (done) {
      t.ok(cut > 5, `it takes ${cut} appends`)
      return
    }
    t.match(await seed(all), { key: /^svc_live_/ }, `cut after ${cut}`)
    t.equal(await all.store.head(), length, 'nothing is missing, nothing there twice')
  }
  t.fail('it never came to an end')
})
