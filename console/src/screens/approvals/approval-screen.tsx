import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { decide } from '../../api/approvals.ts'
import { Button } from '../../components/button.tsx'
import { JsonBlock } from '../../components/code-block.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import { shortId } from '../../components/short-id.ts'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { UserName } from '../../session/user-name.tsx'
import styles from './approvals.module.css'
import { type Approval, approvalQuery } from './approvals-queries.ts'
import { Conversation } from './conversation.tsx'

const route = getRouteApi('/approvals/$approvalId')

type Decision = 'approve' | 'deny'

/** Why somebody may not decide; undefined: they may. */
const useObstacle = ({ approver, user_id }: Approval): string | undefined => {
  const { can, isManager, user } = useSession()
  if (!can('approvals:decide')) return 'Deciding needs the scope approvals:decide.'
  if (approver === 'admin')
    return isManager ? undefined : 'An owner or admin of the organization decides this call.'
  return user.user_id === user_id ? undefined : 'The user of the conversation decides this call.'
}

const Actions = ({ approval }: { approval: Approval }) => {
  const client = useQueryClient()
  const obstacle = useObstacle(approval)
  const [decision, setDecision] = useState<Decision>()
  const [reason, setReason] = useState('')
  const { tool_name, agent_name } = approval
  const confirm = async () => {
    if (!decision) return
    await decide(approval, decision, decision === 'deny' ? reason.trim() : undefined)
    notify(decision === 'approve' ? `${tool_name} approved` : `${tool_name} denied`)
    await client.invalidateQueries({ queryKey: ['approval', approval.approval_id] })
    void client.invalidateQueries({ queryKey: ['approvals'] })
    void client.invalidateQueries({ queryKey: ['attention'] })
  }
  const close = () => {
    setDecision(undefined)
    setReason('')
  }
  if (obstacle) return <p className="soft small">{obstacle}</p>
  return (
    <>
      <Button onPress={() => setDecision('deny')}>Deny</Button>
      <Button kind="primary" icon="check" onPress={() => setDecision('approve')}>
        Approve
      </Button>
      <ConfirmDialog
        isOpen={decision === 'approve'}
        onOpenChange={close}
        title={`Approve ${tool_name}?`}
        action="Approve"
        kind="primary"
        onConfirm={confirm}
      >
        <p>The call is made at once with the arguments of this page, and {agent_name} continues.</p>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={decision === 'deny'}
        onOpenChange={close}
        title={`Deny ${tool_name}?`}
        action="Deny"
        onConfirm={confirm}
      >
        <div className="stack">
          <p>The call is not made. {agent_name} gets the reason and continues.</p>
          <TextField
            label="Reason"
            description="Optional. The model reads it."
            rows={3}
            maxLength={2_000}
            value={reason}
            onChange={setReason}
          />
        </div>
      </ConfirmDialog>
    </>
  )
}

const Facts = ({ approval }: { approval: Approval }) => {
  const { status, agent_name, user_id, approver, reason, decided_by, decided_at } = approval
  const isPending = status === 'pending'
  return (
    <dl className={styles.facts}>
      <dt>Status</dt>
      <dd>
        <Status status={status} />
      </dd>
      <dt>Agent</dt>
      <dd dir="auto">{agent_name}</dd>
      <dt>User</dt>
      <dd>
        <UserName id={user_id} />
      </dd>
      <dt>Approver</dt>
      <dd>{approver === 'admin' ? 'An owner or admin' : 'The user'}</dd>
      <dt>Requested</dt>
      <dd>
        <Time at={approval.requested_at} />
      </dd>
      <dt>{isPending ? 'Expires' : 'Time limit'}</dt>
      <dd>
        <Time at={approval.expires_at} />
      </dd>
      {!isPending && (
        <>
          <dt>Ended</dt>
          <dd>
            <Time at={decided_at} />
          </dd>
        </>
      )}
      {decided_by && (
        <>
          <dt>Decided by</dt>
          <dd>
            <UserName id={decided_by} />
          </dd>
        </>
      )}
      {reason && (
        <>
          <dt>Reason</dt>
          <dd dir="auto">{reason}</dd>
        </>
      )}
      <dt>Run</dt>
      <dd>
        <Link to="/runs/$runId" params={{ runId: approval.run_id }} className="mono">
          {shortId(approval.run_id)}
        </Link>
      </dd>
      <dt>Arguments digest</dt>
      <dd className="mono">{approval.arguments_digest}</dd>
    </dl>
  )
}

/** One call that waits, or waited, for a decision, with what was said before it. */
export const ApprovalScreen = () => {
  const { approvalId } = route.useParams()
  const { can } = useSession()
  const isAllowed = can('approvals:read')
  const query = useQuery({ ...approvalQuery(approvalId), enabled: isAllowed })
  const approval = query.data
  const back = <Link to="/approvals">Approvals</Link>
  if (!isAllowed)
    return (
      <Page title="Approval" back={back}>
        <ForbiddenState scope="approvals:read" what="approvals" />
      </Page>
    )
  return (
    <Page
      title={approval?.tool_name ?? 'Approval'}
      back={back}
      actions={approval?.status === 'pending' && <Actions approval={approval} />}
    >
      <QueryView query={query} skeleton={<Skeleton lines={10} height="1.5rem" />}>
        {(current) =>
          current ? (
            <div className={styles.columns}>
              <div className="stack">
                <JsonBlock title="Arguments" value={current.arguments} />
                <section className="card stack" aria-labelledby="conversation">
                  <h2 id="conversation">Conversation before the call</h2>
                  <Conversation approval={current} />
                </section>
              </div>
              <section className="card stack" aria-labelledby="details">
                <h2 id="details">Details</h2>
                <Facts approval={current} />
              </section>
            </div>
          ) : (
            <EmptyState icon="search" title="There is no such approval" action={back}>
              Its conversation may be erased, or belong to somebody else.
            </EmptyState>
          )
        }
      </QueryView>
    </Page>
  )
}
