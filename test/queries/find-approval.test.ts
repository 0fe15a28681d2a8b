import t from 'tap'
import type { ApprovalView } from '../../projections/approvals.ts'
import { approvalAnswer, findApproval } from '../../queries/find-approval.ts'
import type { View } from '../../src/ports/views.ts'

const sealed = (box: string) => ({ $sealed: 'k', box })
const approval = (approver: 'user' | 'admin', more: object = {}) =>
  ({
    approval_id: 'approval-1',
    organization_id: 'org-1',
    user_id: 'user-1',
    key_id: 'key-1',
    approver,
    arguments: sealed('{"a":1}'),
    reason: null,
    ...more,
  }) as unknown as ApprovalView

const find = (view: ApprovalView | undefined) =>
  findApproval({ approvals: { get: async () => view } as unknown as View<ApprovalView> })
const viewerOf = (userId: string, manages = false, organizationId = 'org-1') => ({
  organizationId,
  viewer: { userId, onlyKeyId: null },
  manages,
})

for (const [title, approver, viewer, mayDecide] of [
  ['the user of the session, for the user', 'user', viewerOf('user-1'), true],
  ['the user of the session, for an admin', 'admin', viewerOf('user-1'), false],
  ['the user who is a manager, for an admin', 'admin', viewerOf('user-1', true), true],
  ['another manager, for an admin', 'admin', viewerOf('user-2', true), true],
] as const)
  t.test(`${title}, finds an approval and ${mayDecide ? 'may' : 'may not'} decide`, async (t) => {
    const view = approval(approver)
    t.strictSame(await find(view)('approval-1', viewer), { approval: view, mayDecide })
  })

for (const [title, view, viewer] of [
  ['a manager, of an approval for its user', approval('user'), viewerOf('user-2', true)],
  ['another user', approval('admin'), viewerOf('user-2')],
  ['another organization', approval('user'), viewerOf('user-1', true, 'org-2')],
  ['an unknown id', undefined, viewerOf('user-1')],
] as const)
  t.test(`approval_not_found: ${title}`, async (t) => {
    await t.rejects(find(view)('approval-1', viewer), { code: 'approval_not_found' })
  })

for (const [title, text, args, bytes] of [
  ['JSON', '{"a":1}', { a: 1 }, 1_007],
  ['nothing', ' ', {}, 1_001],
  ['no JSON', '{a', '{a', 1_002],
  ['a text whose key is destroyed', undefined, null, 1_000],
] as const)
  t.test(`arguments of ${title} are shown, and weigh ${bytes} bytes`, async (t) => {
    const { value, bytes: weight } = await approvalAnswer(approval('user'), () => text)
    t.strictSame(value.arguments, args)
    t.equal(weight, bytes)
    t.equal(value.user_id, 'user-1', 'whose conversation it is')
    t.notOk('key_id' in value || 'organization_id' in value)
  })

t.test('a reason is shown, or null where it is absent or its key destroyed', async (t) => {
  const reasonOf = async (view: ApprovalView, open: () => string | undefined) =>
    (await approvalAnswer(view, open)).value.reason
  const reasoned = approval('user', { reason: sealed('so') })
  t.equal(await reasonOf(reasoned, () => 'so'), 'so')
  t.equal(await reasonOf(reasoned, () => undefined), null)
  t.equal(await reasonOf(approval('user'), () => 'so'), null)
})
