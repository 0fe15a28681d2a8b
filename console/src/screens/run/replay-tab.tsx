import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Agent, agentsQuery } from '../../api/agents.ts'
import { asCurl } from '../../api/as-curl.ts'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Diff } from '../../components/diff.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { EmptyState, FailedState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import styles from './run.module.css'
import { isOpen } from './run-queries.ts'
import type { Step } from './steps.ts'

type Replay = Answer<'/api/admin/organizations/{organization_id}/runs/{run_id}/replay', 'post'>
type Changed = Replay['steps'][number]
type Model = Replay['model']

const tones = { changed: 'warn', new: 'good', gone: 'bad' } as const
const most = 50

const ChangedStep = ({ step }: { step: Changed }) => {
  const either = step.now ?? step.before
  const called = either?.called?.tool
  return (
    <li className={styles.replayStep}>
      <div className="row">
        <Status status={step.change} tone={tones[step.change]} />
        <strong dir="auto">{either?.agent}</strong>
        <span className="soft">{called ? `calls ${called}` : 'asks the model'}</span>
        <code className="soft">{step.at}</code>
      </div>
      <Diff before={step.before} after={step.now} />
    </li>
  )
}

const Outcome = ({ replay }: { replay: Replay }) => (
  <section className="stack" aria-label="Result of the replay">
    <h2>
      {replay.steps.length === 0
        ? 'Nothing would change'
        : `${formatNumber(replay.steps.length)} of ${formatNumber(replay.same + replay.steps.length)} steps would change`}
    </h2>
    {replay.error && <p className="bad">{replay.error}</p>}
    {replay.answer.changed && (
      <div className="stack">
        <h3>Answer</h3>
        <Diff before={replay.answer.before} after={replay.answer.now} />
      </div>
    )}
    <ul className={styles.replaySteps}>
      {replay.steps.slice(0, most).map((step) => (
        <ChangedStep key={step.at} step={step} />
      ))}
    </ul>
    {replay.steps.length > most && (
      <p className="soft">and {formatNumber(replay.steps.length - most)} more steps</p>
    )}
  </section>
)

type FormProps = { run: RunSummary; agents: readonly Agent[] }

const Form = ({ run, agents }: FormProps) => {
  const { organizationId, isPlatform } = useSession()
  const preferred = agents.find(({ agent_id }) => agent_id === run.agent_id) ?? agents[0]
  const [chosen, setChosen] = useState(preferred?.agent_id ?? '')
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const [model, setModel] = useState<Model>('recorded')
  const agent = agents.find(({ agent_id }) => agent_id === chosen)
  const instructions = Object.fromEntries(
    Object.entries(texts).filter(
      ([id, text]) => text !== agents.find(({ agent_id }) => agent_id === id)?.instruction,
    ),
  )
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/api/admin/organizations/{organization_id}/runs/{run_id}/replay', {
          params: { path: { organization_id: organizationId, run_id: run.run_id } },
          body: { model, instructions },
        }),
      ),
  })
  const url = `/api/admin/organizations/${organizationId}/runs/${run.run_id}/replay`
  const curl = asCurl(
    { method: 'POST', url, body: { model, instructions } },
    window.location.origin,
  )
  return (
    <div className="stack">
      <p className="soft">
        Runs the recorded turn again with the agents’ present settings and the instructions below,
        and shows what would differ. Nothing is stored or charged, and no tool is called.
      </p>
      <div className={styles.replayFields}>
        <Select
          label="Agent"
          options={agents.map(({ agent_id: id, name }) => ({ id, label: name }))}
          value={chosen}
          onChange={setChosen}
        />
        {isPlatform && (
          <Select
            label="Answers of models"
            options={[
              { id: 'recorded', label: 'Recorded' },
              { id: 'live', label: 'New, from the models' },
            ]}
            value={model}
            onChange={setModel}
          />
        )}
      </div>
      <TextField
        label="Instruction"
        rows={8}
        value={texts[chosen] ?? agent?.instruction ?? ''}
        onChange={(text) => setTexts({ ...texts, [chosen]: text })}
        description={
          model === 'recorded'
            ? 'Models give their recorded answers, so only the requests to them can differ.'
            : 'Models are called, without a charge.'
        }
      />
      <div className="row">
        <Button kind="primary" icon="history" isDisabled={isPending} onPress={() => mutate()}>
          Replay
        </Button>
        <span className="soft small" role="status">
          {isPending && 'Replaying'}
        </span>
      </div>
      {error && <FailedState error={error} />}
      {data && <Outcome replay={data} />}
      <CodeBlock title="Replay with curl" code={curl} wrap />
    </div>
  )
}

type ReplayTabProps = { run: RunSummary; steps: readonly Step[] }

/** A run with other instructions: what would have been asked, called and answered. */
export const ReplayTab = ({ run, steps }: ReplayTabProps) => {
  const { organizationId } = useSession()
  const query = useQuery({
    ...agentsQuery(organizationId),
    enabled: !isOpen(run),
    staleTime: 30_000,
  })
  if (isOpen(run))
    return (
      <EmptyState icon="history" title="This run has not ended">
        A run can be replayed with other instructions once it has ended.
      </EmptyState>
    )
  return (
    <QueryView query={query} skeleton={<Skeleton height="20rem" />}>
      {(agents) => {
        const names = new Set(steps.map(({ agent_name }) => agent_name))
        const inRun = agents.filter(
          ({ name, agent_id }) => names.has(name) || agent_id === run.agent_id,
        )
        return inRun.length > 0 ? (
          <Form run={run} agents={inRun} />
        ) : (
          <EmptyState icon="agents" title="The agents of this run are gone" />
        )
      }}
    </QueryView>
  )
}
