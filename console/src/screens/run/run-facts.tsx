import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { memberNamesQuery } from '../../api/members.ts'
import { Count, Credits, Duration } from '../../components/amounts.tsx'
import { CopyButton } from '../../components/code-block.tsx'
import { shortId } from '../../components/short-id.ts'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import styles from './run.module.css'

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className={styles.fact}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** What a run was, took and cost, at a glance. */
export const RunFacts = ({ run }: { run: RunSummary }) => {
  const { organizationId } = useSession()
  const { data: names } = useQuery(memberNamesQuery(organizationId))
  const { user_id: userId, session_id: sessionId, models } = run
  return (
    <dl className={styles.facts}>
      <Fact name="Status">
        <Status status={run.status} />
        {run.draft && <Status status="draft" />}
      </Fact>
      <Fact name="Started">
        <Time at={run.started_at} />
      </Fact>
      <Fact name="Duration">
        <Duration ms={run.duration_ms} />
      </Fact>
      <Fact name="First token">
        <Duration ms={run.time_to_first_token_ms} />
      </Fact>
      <Fact name="Tokens in">
        <Count of={run.prompt_tokens} />
      </Fact>
      <Fact name="Tokens out">
        <Count of={run.completion_tokens} />
      </Fact>
      <Fact name="Credits">
        <Credits amount={run.charge} />
      </Fact>
      {run.attempts > 1 && (
        <Fact name="Attempts">
          <Count of={run.attempts} />
        </Fact>
      )}
      <Fact name={models.length > 1 ? 'Models' : 'Model'}>
        <span className="truncate" title={models.join(', ')}>
          {models.length > 0 ? models.join(', ') : '–'}
        </span>
      </Fact>
      <Fact name="User">
        {userId === null ? (
          '–'
        ) : (
          <Link
            to="/runs"
            search={{ user_id: userId }}
            className="truncate"
            title={userId}
            dir="auto"
          >
            {names?.get(userId) ?? shortId(userId)}
          </Link>
        )}
      </Fact>
      <Fact name="Session">
        <Link
          to="/runs"
          search={{ session_id: sessionId }}
          className="truncate mono"
          title={sessionId}
        >
          {shortId(sessionId)}
        </Link>
      </Fact>
      <Fact name="Run">
        <span className="mono" title={run.run_id}>
          {shortId(run.run_id)}
        </span>
        <CopyButton text={run.run_id} what="Run ID" />
      </Fact>
      <Fact name="History">
        <Link to="/history" search={{ run_id: run.run_id, order: 'asc' }}>
          Events of this run
        </Link>
      </Fact>
    </dl>
  )
}
