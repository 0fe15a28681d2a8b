import fc from 'fast-check'
import t from 'tap'
import { accountChangeId, accountChanges, isUntold } from '../../projections/account-changes.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { foldLog } from '../support/folded-trees.ts'
import { at } from '../support/positions.ts'
import { metadata, recorded } from '../support/recorded.ts'

type Step = { type: string; organization: string; data?: unknown }

/** What happened to user-1, at positions with gaps. */
const log = (...steps: Step[]): RecordedEvent[] =>
  recorded(
    steps.map(({ type, organization, data = {} }, n) => ({
      id: `event-${n}`,
      stream: type.startsWith('Member')
        ? `member-${organization}_user-1`
        : type === 'CreditsGranted'
          ? 'account-user-1'
          : 'user-user-1',
      type,
      data,
      position: 10 * n,
      metadata: { ...metadata, organization_id: organization },
    })),
  )

const active = (organization: string): Step => ({
  type: 'MemberAdded',
  organization,
  data: { role: 'MEMBER', status: 'active' },
})
const invited = (organization: string): Step => ({
  type: 'MemberAdded',
  organization,
  data: { role: 'MEMBER', status: 'pending' },
})
const joined = (organization: string): Step => ({ type: 'MemberActivated', organization })
const left = (organization: string): Step => ({ type: 'MemberRemoved', organization })
const granted = (amount = 5, organization = 'platform'): Step => ({
  type: 'CreditsGranted',
  organization,
  data: { grantId: 'g', amount, reason: 'for org-9' },
})
const memberAccountChanged = (organization: string, position: number): Step => ({
  type: 'MemberAccountChanged',
  organization,
  data: {
    change: { kind: 'credits', amount: 5 },
    eventId: `event-${position / 10}`,
    position,
    at: metadata.at,
  },
})

/** The pending recipients by position. */
const untold = async (events: readonly RecordedEvent[], lengths = [100]) => {
  const documents = await foldLog(events, lengths, accountChanges)
  return [...documents.values()]
    .flatMap((document) => {
      const view = document as Parameters<typeof isUntold>[0]
      return isUntold(view) ? [[view.organization_id, view.position] as const] : []
    })
    .toSorted(([a, m], [b, n]) => m - n || a.localeCompare(b))
}

t.test(
  'organizations receive the changes that happen while the user is active there',
  async (t) => {
    t.strictSame(await untold(log(granted())), [], 'a user of no organization')
    t.strictSame(await untold(log(invited('org-1'), granted())), [], 'one who is invited')
    t.strictSame(await untold(log(active('org-1'), granted())), [['org-1', 10]])
    t.strictSame(await untold(log(invited('org-1'), joined('org-1'), granted())), [['org-1', 20]])
    t.strictSame(await untold(log(granted(), active('org-1'))), [], 'what was before')
    t.strictSame(await untold(log(active('org-1'), left('org-1'), granted())), [], 'what was after')
    t.strictSame(
      await untold(log(active('org-1'), granted(), left('org-1'), granted())),
      [['org-1', 10]],
      'one who has left is told of still',
    )
    t.strictSame(await untold(log(active('org-1'), active('org-2'), granted())), [
      ['org-1', 20],
      ['org-2', 20],
    ])
  },
)

t.test('a change carries plan, credits and identity, and nothing of their origin', async (t) => {
  const events = log(
    active('org-1'),
    granted(-3),
    { type: 'SubscriptionChanged', organization: 'platform', data: { plan: 'pro_monthly' } },
    {
      type: 'IdentityLinked',
      organization: 'platform',
      data: { provider: 'sso of org-9', subjectHash: 'hash' },
    },
    granted(0),
    {
      type: 'CurrentOrganizationChanged',
      organization: 'platform',
      data: { organizationId: 'x' },
    },
  )
  const documents = await foldLog(events, [100], accountChanges)
  const of = { organization_id: 'org-1', user_id: 'user-1', untold: true, at: metadata.at }
  const place = { userId: 'user-1', organizationId: 'org-1' }
  t.strictSame(
    [...documents].filter(([id]) => id !== 'user-1'),
    (
      [
        [10, { kind: 'credits', amount: -3 }],
        [20, { kind: 'plan', plan: 'pro_monthly' }],
        [30, { kind: 'identity' }],
      ] as const
    ).map(([position, change]) => [
      accountChangeId({ ...place, position }),
      { ...of, event_id: `event-${position / 10}`, position: at(position), change },
    ]),
  )
})

t.test('an event of an organization’s own history goes to the others only', async (t) => {
  const events = log(active('org-1'), active('org-2'), granted(5, 'org-2'))
  t.strictSame(await untold(events), [['org-1', 20]])
})

t.test('a sent change stays sent, however the log is cut into batches', async (t) => {
  const events = log(
    active('org-1'),
    active('org-2'),
    granted(),
    granted(),
    memberAccountChanged('org-1', 20),
    left('org-2'),
    memberAccountChanged('org-2', 20),
    memberAccountChanged('org-1', 30),
  )
  for (const lengths of [[100], [1], [3, 2]])
    t.strictSame(await untold(events, lengths), [['org-2', 30]], `${lengths}`)
  const step = fc.constantFrom(
    active('org-1'),
    invited('org-2'),
    joined('org-2'),
    left('org-1'),
    left('org-2'),
    granted(),
    granted(0),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.nat(5), async (steps, n) => {
      const events = log(...steps)
      t.strictSame(await untold(events, [n + 1]), await untold(events))
    }),
    { numRuns: 60 },
  )
})
