import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Radio, RadioGroup } from 'react-aria-components'
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { notify } from '../../components/messages.tsx'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { UserName } from '../../session/user-name.tsx'
import styles from './approvals.module.css'
import { callsInDoubtQuery, type RunInDoubt } from './approvals-queries.ts'
import { useReader } from './conversation.tsx'

type Call = {
  run_id: string
  tool_id: string
  tool_name: string
  agent_name: string
  arguments_digest: string
}
type Outcome = 'done' | 'not_done'

type CallProps = { call: Call; sessionId: string; onBehalfOf: string | undefined }

const CallInDoubt = ({ call, sessionId, onBehalfOf }: CallProps) => {
  const { run_id, tool_id, tool_name, agent_name, arguments_digest } = call
  const client = useQueryClient()
  const { can } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>('done')
  const [result, setResult] = useState('')
  const report = async () => {
    await answerOf(
      api.POST('/api/external/sessions/{session_id}/runs/{run_id}/tools/{tool_id}/outcome', {
        params: { path: { session_id: sessionId, run_id, tool_id } },
        body: {
          outcome,
          arguments_digest,
          ...(outcome === 'done' && result !== '' && { result }),
          ...(onBehalfOf && { on_behalf_of: onBehalfOf }),
        },
      }),
    )
    notify(`Outcome of ${tool_name} reported`)
    void client.invalidateQueries({ queryKey: ['calls-in-doubt', sessionId] })
    void client.invalidateQueries({ queryKey: ['runs-in-doubt'] })
    void client.invalidateQueries({ queryKey: ['attention'] })
  }
  return (
    <li className={styles.heading}>
      <span className="row">
        <code>{tool_name}</code>
        <span className="soft small" dir="auto">
          {agent_name}
        </span>
      </span>
      {can('approvals:decide') ? (
        <Button onPress={() => setOpen(true)}>Report outcome</Button>
      ) : (
        <span className="soft small">
          Needs the scope <code>approvals:decide</code>
        </span>
      )}
      <ConfirmDialog
        isOpen={isOpen}
        onOpenChange={setOpen}
        title={`Was ${tool_name} called?`}
        action="Report outcome"
        kind="primary"
        onConfirm={report}
      >
        <div className="stack">
          <p>
            The server stopped between the call and its answer. Look at the tool's own records: a
            call that is reported as not made is made now.
          </p>
          <RadioGroup
            aria-label="Outcome"
            className={styles.choices ?? ''}
            value={outcome}
            onChange={(value) => setOutcome(value === 'done' ? 'done' : 'not_done')}
          >
            <Radio value="done" className={styles.choice ?? ''}>
              It was made, do not repeat it
            </Radio>
            <Radio value="not_done" className={styles.choice ?? ''}>
              It was not made, make it now
            </Radio>
          </RadioGroup>
          {outcome === 'done' && (
            <TextField
              label="Result"
              description="Optional. The model reads it as the tool's answer."
              rows={3}
              mono
              maxLength={20_000}
              value={result}
              onChange={setResult}
            />
          )}
        </div>
      </ConfirmDialog>
    </li>
  )
}

const Calls = ({ run, userId }: { run: RunInDoubt; userId: string }) => {
  const { can } = useSession()
  const { onBehalfOf, isAllowed } = useReader(userId)
  const canRead = can('sessions:read')
  const query = useQuery({
    ...callsInDoubtQuery(run.session_id, onBehalfOf),
    enabled: canRead && isAllowed,
  })
  if (!canRead) return <ForbiddenState scope="sessions:read" what="the calls of this run" />
  if (!isAllowed) return <ForbiddenState scope="users:delegate" what="the calls of this run" />
  return (
    <QueryView query={query} skeleton={<Skeleton height="2rem" />}>
      {(calls) => {
        const own = calls.filter(({ run_id }) => run_id === run.run_id)
        if (own.length === 0) return <p className="soft small">No call is in doubt any more.</p>
        return (
          <ul className="stack">
            {own.map((call) => (
              <CallInDoubt
                key={`${call.tool_id} ${call.arguments_digest}`}
                call={call}
                sessionId={run.session_id}
                onBehalfOf={onBehalfOf}
              />
            ))}
          </ul>
        )
      }}
    </QueryView>
  )
}

type RunsInDoubtProps = { query: UseQueryResult<{ total: number; items: RunInDoubt[] }> }

/** Runs that wait until somebody reports whether a call was made. */
export const RunsInDoubt = ({ query }: RunsInDoubtProps) => (
  <QueryView query={query} skeleton={<Skeleton lines={3} height="4rem" />}>
    {({ total, items }) => {
      if (items.length === 0)
        return (
          <EmptyState icon="check" title="No tool is in doubt">
            If a server stops between a call and its answer, the run waits here until somebody
            reports whether the call was made.
          </EmptyState>
        )
      return (
        <ul className="stack" aria-label="Runs in doubt">
          {total > items.length && (
            <li className="soft small">
              The newest {items.length} of {total}
            </li>
          )}
          {items.map((run) => (
            <li key={run.run_id} className="card stack">
              <div className={styles.heading}>
                <h2 dir="auto">{run.agent_name}</h2>
                <span className="row soft small">
                  {run.user_id && <UserName id={run.user_id} />}
                  <Time at={run.started_at} />
                  <Link to="/runs/$runId" params={{ runId: run.run_id }}>
                    Open run
                  </Link>
                </span>
              </div>
              {run.user_id ? (
                <Calls run={run} userId={run.user_id} />
              ) : (
                <p className="soft small">The user of this run is unknown.</p>
              )}
            </li>
          ))}
        </ul>
      )
    }}
  </QueryView>
)
