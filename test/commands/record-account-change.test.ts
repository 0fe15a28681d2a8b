import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { at } from '../support/positions.ts'

const { recordAccountChange, appended, appendedOnce, organization } = await commanding(t)

const changed = {
  change: { kind: 'plan', plan: null },
  eventId: 'event-1',
  position: at(1_000_000),
  at: '2026-01-01T00:00:00.000Z',
} as const

t.test('an account change is told in the stream of the membership, once', async (t) => {
  const { by, ownerId: userId, organizationId } = await organization()
  const command = { userId, ...changed }
  const events = await appendedOnce(t, (call) => recordAccountChange(command, call), by)
  t.strictSame(events, [
    {
      type: 'MemberAccountChanged',
      data: changed,
      stream: `member-${organizationId}_${userId}`,
    },
  ])
  t.strictSame(await appended(() => recordAccountChange(command, by)), [], 'in another call')
  const both = () =>
    Promise.all(
      [at(1_000_001), at(1_000_001)].map((position) =>
        recordAccountChange({ ...command, position }, by),
      ),
    )
  t.equal((await appended(both)).length, 1, 'two at once')
})

t.test('an organization that never had the member is not told', async (t) => {
  const [first, second] = [await organization(), await organization()]
  const command = { userId: first.ownerId, ...changed }
  t.strictSame(await appended(() => recordAccountChange(command, second.by)), [])
})
