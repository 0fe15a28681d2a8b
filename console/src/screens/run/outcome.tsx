import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { Icon } from '../../components/icon.tsx'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import styles from './run.module.css'
import { failureCauseQuery } from './run-queries.ts'
import { failuresOf, type Step } from './steps.ts'

/** What the codes of failed runs mean, as in docs/contract/chat.md. */
const meanings: Readonly<Record<string, string>> = {
  llm_service_unavailable: 'The model’s provider could not be reached, or ended with a failure.',
  llm_service_timeout: 'The model’s provider did not answer in time, or the turn took too long.',
  model_misconfigured: 'The provider refuses its key, the model or the request.',
  context_length_exceeded: 'The conversation is too long for the model.',
  run_limit_reached: 'The run used up the steps, tokens, credits or seconds that its agent allows.',
  invalid_model_output: 'Two answers of the model did not fit the requested format.',
  interrupted: 'The server died during the run, which could not be resumed.',
  orchestrator_error: 'An agent failed.',
}

type BannerProps = { tone: 'bad' | 'warn'; title: string; children?: ReactNode }

const Banner = ({ tone, title, children }: BannerProps) => (
  <section className={classNames(styles.outcome, styles[tone])} aria-label="Outcome">
    <Icon name="warning" />
    <div className={styles.outcomeWords}>
      <h2>{title}</h2>
      {children}
    </div>
  </section>
)

const mostFailures = 3

const kinds: Readonly<Record<Step['kind'], string>> = {
  agent: 'Agent',
  model: 'Model call',
  tool: 'Tool call',
  approval: 'Approval',
  attempt: 'Attempt',
}

type FailedStepsProps = { steps: readonly Step[]; onStep: (id: string) => void }

const FailedSteps = ({ steps, onStep }: FailedStepsProps) => {
  const failures = failuresOf(steps)
  if (failures.length === 0) return null
  return (
    <ul className={styles.failures}>
      {failures.slice(0, mostFailures).map((step) => (
        <li key={step.step_id}>
          <span>
            {kinds[step.kind]}{' '}
            <strong dir="auto" className={styles.failureName}>
              {step.name}
            </strong>{' '}
            {step.status.replaceAll('_', ' ')}
          </span>
          <Button onPress={() => onStep(step.step_id)}>Show the step</Button>
        </li>
      ))}
      {failures.length > mostFailures && (
        <li className="soft">and {failures.length - mostFailures} more</li>
      )}
    </ul>
  )
}

const Failure = ({ run, children }: { run: RunSummary; children: ReactNode }) => {
  const { organizationId } = useSession()
  const { data } = useQuery(failureCauseQuery(organizationId, run))
  const { code } = run
  return (
    <Banner tone="bad" title="This run failed">
      <p>
        {code && <code>{code}</code>} {code && meanings[code]}
      </p>
      {data?.cause && (
        <p className={styles.cause} dir="auto">
          {data.cause}
        </p>
      )}
      {children}
    </Banner>
  )
}

type OutcomeProps = { run: RunSummary } & FailedStepsProps

/** Why a run failed, or what it waits for; nothing for others. */
export const Outcome = ({ run, steps, onStep }: OutcomeProps) => {
  const failed = <FailedSteps steps={steps} onStep={onStep} />
  if (run.status === 'failed') return <Failure run={run}>{failed}</Failure>
  if (run.status === 'timed_out')
    return (
      <Banner tone="bad" title="This run timed out">
        <p>It took longer than a turn may take.</p>
        {failed}
      </Banner>
    )
  if (run.status === 'awaiting_approval')
    return (
      <Banner tone="warn" title="This run awaits approval">
        <p>
          A call of a tool needs somebody’s decision.{' '}
          <Link to="/approvals">Open the approvals</Link>
        </p>
      </Banner>
    )
  if (run.status === 'in_doubt')
    return (
      <Banner tone="warn" title="A call of this run is in doubt">
        <p>
          It is not known whether a tool was called before the server died.{' '}
          <Link to="/approvals">Report the outcome</Link>
        </p>
      </Banner>
    )
  return null
}
