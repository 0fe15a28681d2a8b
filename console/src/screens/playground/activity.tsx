import { Duration } from '../../components/amounts.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import styles from './playground.module.css'
import type { AgentWork, StepState, Turn } from './turn.ts'

const looks: Readonly<Record<StepState, { icon: IconName; tone: string; label: string }>> = {
  running: { icon: 'refresh', tone: styles.working ?? '', label: 'Running' },
  completed: { icon: 'check', tone: 'good', label: 'Completed' },
  failed: { icon: 'warning', tone: 'bad', label: 'Failed' },
}

const Mark = ({ state }: { state: StepState }) => {
  const { icon, tone, label } = looks[state]
  return (
    <span className={tone}>
      <Icon name={icon} size={14} />
      <span className="visually-hidden">{label}: </span>
    </span>
  )
}

const typeWords: Readonly<Record<string, string>> = {
  SEQUENTIAL_AGENT: 'sequential',
  PARALLEL_AGENT: 'parallel',
  LOOP_AGENT: 'loop',
}

const AgentStep = ({ agent }: { agent: AgentWork }) => (
  <li>
    <div className={styles.step} style={{ marginInlineStart: `${agent.depth * 1.25}rem` }}>
      <Mark state={agent.state} />
      <span className={styles.stepName} dir="auto">
        {agent.name}
      </span>
      {typeWords[agent.type] && <span className="soft">{typeWords[agent.type]}</span>}
      {agent.routedTo.length > 0 && (
        <span className="soft truncate">handed over to {agent.routedTo.join(', ')}</span>
      )}
      {agent.errorCode && <code className="bad">{agent.errorCode}</code>}
      <span className={styles.stepEnd}>
        {agent.durationMs !== undefined && <Duration ms={agent.durationMs} />}
      </span>
    </div>
    {agent.tools.length > 0 && (
      <ul>
        {agent.tools.map(({ id, name, state }, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: a provider may repeat an id
            key={`${id} ${index}`}
            className={styles.step}
            style={{ marginInlineStart: `${(agent.depth + 1) * 1.25}rem` }}
          >
            <Mark state={state} />
            <span className="soft">Tool</span>
            <code className="truncate">{name}</code>
            <span className={styles.stepEnd}>{state === 'failed' ? 'failed' : ''}</span>
          </li>
        ))}
      </ul>
    )}
  </li>
)

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Of more, only the number is shown. */
const mostNames = 3

/** "Studio is working", or "Orchestrator, Studio · generate_content". */
export const activityWords = ({ agents, state }: Turn): string => {
  const tools = agents.flatMap((agent) => agent.tools)
  if (state === 'running') {
    const working = agents.findLast((agent) => agent.state === 'running')
    const tool = working?.tools.find((call) => call.state === 'running')
    if (tool && working) return `${working.name} calls ${tool.name}`
    return working ? `${working.name} is working` : 'Starting'
  }
  if (state === 'waiting') return 'Waiting for approval'
  const names = [...new Set(agents.map(({ name }) => name))]
  const toolNames = [...new Set(tools.map(({ name }) => name))]
  return [
    names.length <= mostNames ? names.join(', ') : plural(names.length, 'agent'),
    ...(tools.length === 0
      ? []
      : [toolNames.length <= mostNames ? toolNames.join(', ') : plural(tools.length, 'tool call')]),
  ].join(' · ')
}

/** The agents and tools of a turn, in the order in which they began. */
export const Activity = ({ turn }: { turn: Turn }) => {
  const { agents, state, attempt } = turn
  if (agents.length === 0) return null
  return (
    <details
      className={styles.activity}
      open={state === 'running' || state === 'failed' || undefined}
    >
      <summary>
        <span className="row">
          {state === 'running' && <Mark state="running" />}
          {activityWords(turn)}
          {attempt > 1 && <span className="soft">resumed</span>}
        </span>
      </summary>
      <ul className={styles.steps}>
        {agents.map((agent, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added at the end
          <AgentStep key={index} agent={agent} />
        ))}
      </ul>
    </details>
  )
}
