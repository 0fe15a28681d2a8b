import { useState } from 'react'
import { decide } from '../../api/approvals.ts'
import { messageOf } from '../../api/problem.ts'
import { Button } from '../../components/button.tsx'
import { JsonBlock } from '../../components/code-block.tsx'
import { TextField } from '../../components/fields.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import styles from './playground.module.css'
import type { ApprovalRequest } from './turn.ts'

const longestReason = 2_000

export type Decision = { decision: 'approve' | 'deny'; reason?: string }

type ApprovalCardProps = {
  request: ApprovalRequest
  canDecide: boolean
  onDecided: (request: ApprovalRequest, decision: Decision) => void
}

/** A call that waits: its tool and arguments, and a decision in place. */
export const ApprovalCard = ({ request, canDecide, onDecided }: ApprovalCardProps) => {
  const { tool_name, agent_name, expires_at } = request
  const [isDenying, setDenying] = useState(false)
  const [reason, setReason] = useState('')
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (decision: Decision) => {
    setPending(true)
    setError(undefined)
    try {
      await decide(request, decision.decision, decision.reason)
      onDecided(request, decision)
    } catch (failure) {
      setError(failure)
      setPending(false)
    }
  }
  const isLong = reason.length > longestReason
  return (
    <section className={styles.approval} aria-label={`Approval of ${tool_name}`}>
      <div className={styles.approvalHead}>
        <Status status="waiting" label="Needs approval" />
        <span>
          <strong dir="auto">{agent_name}</strong> wants to call <code>{tool_name}</code>
        </span>
        <span className="soft small">
          Denied automatically <Time at={expires_at} />
        </span>
      </div>
      <JsonBlock title="Arguments" value={request.arguments} />
      {isDenying && (
        <TextField
          label="Reason"
          description="The agent is told the reason, and continues without the call."
          value={reason}
          onChange={setReason}
          rows={2}
          autoFocus
          error={isLong ? 'A reason has at most 2,000 characters' : undefined}
        />
      )}
      {error !== undefined && (
        <p role="alert" className="bad">
          {messageOf(error)}
        </p>
      )}
      {canDecide ? (
        <div className="row">
          {isDenying ? (
            <>
              <Button
                kind="danger"
                isDisabled={isPending || isLong}
                onPress={() =>
                  void submit({
                    decision: 'deny',
                    ...(reason.trim() ? { reason: reason.trim() } : {}),
                  })
                }
              >
                Deny call
              </Button>
              <Button onPress={() => setDenying(false)}>Back</Button>
            </>
          ) : (
            <>
              <Button
                kind="primary"
                icon="check"
                isDisabled={isPending}
                onPress={() => void submit({ decision: 'approve' })}
              >
                Approve
              </Button>
              <Button isDisabled={isPending} onPress={() => setDenying(true)}>
                Deny…
              </Button>
            </>
          )}
        </div>
      ) : (
        <p className="soft small">
          A decision needs the scope <code>approvals:decide</code>.
        </p>
      )}
    </section>
  )
}
