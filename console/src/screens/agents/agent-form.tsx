import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type Agent, agentsQuery } from '../../api/agents.ts'
import { datastoresQuery } from '../../api/datastores.ts'
import { ApiError, messageOf } from '../../api/problem.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Checkbox, ComboField, Select, TextField } from '../../components/fields.tsx'
import { useSession } from '../../session/session.ts'
import { type Draft, type Faults, faultsOf, fieldOf } from './agent-draft.ts'
import { ancestorsOf } from './agent-tree.ts'
import type { AgentType } from './agent-types.ts'
import styles from './agents.module.css'
import { modelsQuery, typeLabels } from './agents-queries.ts'
import { ToolsSection } from './tools-section.tsx'
import { type TriedDraft, TryDialog } from './try-dialog.tsx'

const types = (Object.keys(typeLabels) as AgentType[]).map((id) => ({ id, label: typeLabels[id] }))

const typeWords: Readonly<Record<AgentType, string>> = {
  LLM_AGENT: 'A model answers, and may call tools or hand over to sub-agents.',
  SEQUENTIAL_AGENT: 'Runs its sub-agents in order; each sees the texts before it.',
  PARALLEL_AGENT: 'Runs its sub-agents at the same time and joins their answers.',
  LOOP_AGENT: 'Repeats its sub-agents until a phrase ends it.',
}

type FieldsProps = {
  draft: Draft
  faults: Faults
  isDisabled: boolean
  onChange: (change: Partial<Draft>) => void
}

const Section = ({ id, title, children }: { id: string; title: string; children: ReactNode }) => (
  <section className={`card ${styles.section}`} aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
)

/** Models that the platform names, and those that the organization's agents use. */
const useModelOptions = () => {
  const { organizationId } = useSession()
  const { data: agents = [] } = useQuery(agentsQuery(organizationId))
  const { data: offer } = useQuery(modelsQuery(organizationId))
  const standard = offer?.default_model
  const named = offer?.models.map(({ model }) => model) ?? []
  const used = agents.flatMap(({ model }) => (model ? [model] : []))
  const others = [...new Set([...named, ...used])].filter((model) => model !== standard).sort()
  const options = [
    ...(standard ? [{ id: standard, label: standard, hint: 'the default' }] : []),
    ...others.map((id) => ({ id, label: id })),
  ]
  const open = offer?.providers.filter(({ any_model }) => any_model) ?? []
  return { standard, options, openProviders: open.map(({ provider }) => provider) }
}

const modelWords = ({ standard, openProviders }: ReturnType<typeof useModelOptions>): string =>
  [
    `Empty: the platform’s default${standard ? `, now ${standard}` : ''}.`,
    openProviders.length > 0 && `Other models of ${openProviders.join(', ')} can be typed.`,
  ]
    .filter(Boolean)
    .join(' ')

const ModelSection = ({ draft, faults, isDisabled, onChange }: FieldsProps) => {
  const models = useModelOptions()
  return (
    <Section id="model" title="Model">
      <ComboField
        label="Model"
        description={`As provider/model. ${modelWords(models)}`}
        placeholder="Platform default"
        options={models.options}
        value={draft.model}
        isDisabled={isDisabled}
        onChange={(model) => onChange({ model })}
        error={faults.model}
      />
      <TextField
        label="Instruction"
        description={`${draft.instruction.length.toLocaleString('en')} of 64,000 characters. {key} stands for another agent’s output.`}
        rows={10}
        value={draft.instruction}
        isDisabled={isDisabled}
        onChange={(instruction) => onChange({ instruction })}
        error={faults.instruction}
      />
      <div className={styles.pair}>
        <TextField
          label="Temperature"
          placeholder="The model’s own"
          inputMode="decimal"
          value={draft.temperature}
          isDisabled={isDisabled}
          onChange={(temperature) => onChange({ temperature })}
          error={faults.temperature}
        />
        <TextField
          label="Tokens of an answer, at most"
          placeholder="The model’s own"
          inputMode="numeric"
          value={draft.max_tokens}
          isDisabled={isDisabled}
          onChange={(max_tokens) => onChange({ max_tokens })}
          error={faults.max_tokens}
        />
      </div>
    </Section>
  )
}

const TeamSection = ({
  agentId,
  draft,
  faults,
  isDisabled,
  onChange,
}: FieldsProps & { agentId: string | undefined }) => {
  const { organizationId } = useSession()
  const { data: agents = [] } = useQuery(agentsQuery(organizationId))
  const names = new Map(agents.map(({ agent_id, name }) => [agent_id, name]))
  const barred = agentId ? ancestorsOf(agents, agentId) : new Set<string>()
  const subAgentNames = draft.sub_agents.map((id) => names.get(id))
  const options = agents
    .filter(
      ({ agent_id, name }) =>
        !barred.has(agent_id) &&
        !draft.sub_agents.includes(agent_id) &&
        !subAgentNames.includes(name),
    )
    .map(({ agent_id: id, name, agent_type }) => ({
      id,
      label: name,
      hint: typeLabels[agent_type],
    }))
  const move = (index: number, by: number) => {
    const moved = [...draft.sub_agents]
    moved.splice(index + by, 0, ...moved.splice(index, 1))
    onChange({ sub_agents: moved })
  }
  return (
    <Section id="team" title="Sub-agents">
      {draft.sub_agents.length > 0 && (
        <ol className={styles.list}>
          {draft.sub_agents.map((id, index) => {
            const name = names.get(id) ?? id
            return (
              <li key={id} className={styles.item}>
                <span className="truncate" dir="auto">
                  {name}
                </span>
                <IconButton
                  icon="arrow-up"
                  label={`Move ${name} up`}
                  isDisabled={isDisabled || index === 0}
                  onPress={() => move(index, -1)}
                />
                <IconButton
                  icon="arrow-down"
                  label={`Move ${name} down`}
                  isDisabled={isDisabled || index === draft.sub_agents.length - 1}
                  onPress={() => move(index, 1)}
                />
                <IconButton
                  icon="close"
                  label={`Remove ${name}`}
                  isDisabled={isDisabled}
                  onPress={() =>
                    onChange({ sub_agents: draft.sub_agents.filter((each) => each !== id) })
                  }
                />
              </li>
            )
          })}
        </ol>
      )}
      <Select
        key={draft.sub_agents.join()}
        label="Add a sub-agent"
        description={
          options.length === 0
            ? 'No other agent can be added.'
            : 'Agents that run this one are left out.'
        }
        placeholder="Select an agent"
        options={options}
        value={null}
        isDisabled={isDisabled || options.length === 0}
        onChange={(id) => onChange({ sub_agents: [...draft.sub_agents, id] })}
        error={faults.sub_agents}
      />
      {draft.agent_type === 'LOOP_AGENT' && (
        <div className={styles.pair}>
          <TextField
            label="Iterations, at most"
            placeholder="3"
            inputMode="numeric"
            value={draft.max_iterations}
            isDisabled={isDisabled}
            onChange={(max_iterations) => onChange({ max_iterations })}
            error={faults.max_iterations}
          />
          <TextField
            label="Phrase that ends the loop"
            value={draft.exit_condition}
            isDisabled={isDisabled}
            onChange={(exit_condition) => onChange({ exit_condition })}
            error={faults.exit_condition}
          />
        </div>
      )}
    </Section>
  )
}

const KnowledgeSection = ({ draft, faults, isDisabled, onChange }: FieldsProps) => {
  const { can } = useSession()
  const { data } = useQuery({ ...datastoresQuery, enabled: can('rag:read') })
  if (!can('rag:read'))
    return (
      <Section id="knowledge" title="Knowledge">
        <p className="soft">
          DataStores are listed with the scope <code>rag:read</code>. The agent has{' '}
          {draft.datastore_ids.length}.
        </p>
      </Section>
    )
  return (
    <Section id="knowledge" title="Knowledge">
      {data?.datastores.length === 0 && <p className="soft">There are no DataStores yet.</p>}
      <div className={styles.checks}>
        {data?.datastores.map(({ datastore_id: id, display_name: name }) => (
          <Checkbox
            key={id}
            isSelected={draft.datastore_ids.includes(id)}
            isDisabled={isDisabled}
            onChange={(isSelected) =>
              onChange({
                datastore_ids: isSelected
                  ? [...draft.datastore_ids, id]
                  : draft.datastore_ids.filter((each) => each !== id),
              })
            }
          >
            <span dir="auto">{name}</span>
          </Checkbox>
        ))}
      </div>
      {faults.datastore_ids && <p className={styles.error}>{faults.datastore_ids}</p>}
    </Section>
  )
}

const LimitsSection = ({ draft, faults, isDisabled, onChange }: FieldsProps) => (
  <Section id="limits" title="Output and limits">
    <TextField
      label="Output key"
      description="The name of its output in later agents’ instructions."
      mono
      value={draft.output_key}
      isDisabled={isDisabled}
      onChange={(output_key) => onChange({ output_key })}
      error={faults.output_key}
    />
    <Checkbox
      isSelected={draft.keyword_tools}
      isDisabled={isDisabled}
      onChange={(keyword_tools) => onChange({ keyword_tools })}
    >
      Words of its answers may end or transfer the conversation
    </Checkbox>
    <fieldset className={styles.group}>
      <legend className={styles.legend}>A run that begins with it uses at most</legend>
      <div className={styles.quad}>
        {(
          [
            ['limit_steps', 'Steps'],
            ['limit_tokens', 'Tokens'],
            ['limit_credits', 'Credits'],
            ['limit_seconds', 'Seconds'],
          ] as const
        ).map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            placeholder="No limit"
            inputMode="decimal"
            value={draft[name]}
            isDisabled={isDisabled}
            onChange={(value) => onChange({ [name]: value })}
            error={faults[name]}
          />
        ))}
      </div>
      {faults.limits && <p className={styles.error}>{faults.limits}</p>}
    </fieldset>
  </Section>
)

type AgentFormProps = {
  /** Undefined: a new agent. */
  agent: Agent | undefined
  initial: Draft
  isOrchestrator?: boolean
  isDisabled?: boolean
  /** Says how many settings differ, or what will be created. */
  summary: (draft: Draft) => ReactNode
  /** Whether there is anything to save. */
  isChanged: (draft: Draft) => boolean
  action: string
  onSave: (draft: Draft) => Promise<void>
  /** The draft as the API takes it, where it may be tried. */
  triedOf?: ((draft: Draft) => TriedDraft) | undefined
  onDraft?: (isChanged: boolean) => void
}

/** The settings of an agent, checked while they are typed, and by the server when saved. */
export const AgentForm = (props: AgentFormProps) => {
  const { agent, initial, isOrchestrator = false, isDisabled = false } = props
  const { summary, isChanged, action, onSave, onDraft, triedOf } = props
  const [tried, setTried] = useState<TriedDraft>()
  const [draft, setDraft] = useState(initial)
  const [isPending, setPending] = useState(false)
  const [isTouched, setTouched] = useState(agent !== undefined)
  const [refusal, setRefusal] = useState<{ error: unknown; faults: Faults }>()
  const typed = faultsOf(draft)
  const { name: _, ...others } = typed
  const faults: Faults = { ...refusal?.faults, ...(isTouched ? typed : others) }
  const isUnsaved = isChanged(draft)
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part }
    setDraft(next)
    onDraft?.(isChanged(next))
    if (!refusal) return
    const rest = Object.entries(refusal.faults).filter(([field]) => !(field in part))
    setRefusal({ error: refusal.error, faults: Object.fromEntries(rest) })
  }
  const save = async () => {
    setTouched(true)
    if (Object.keys(typed).length > 0) return
    setPending(true)
    setRefusal(undefined)
    try {
      await onSave(draft)
    } catch (error) {
      const fields = error instanceof ApiError ? Object.entries(error.fields) : []
      const faultsByField = fields.map(([param, words]) => [fieldOf(param), words])
      setRefusal({ error, faults: Object.fromEntries(faultsByField) })
    } finally {
      setPending(false)
    }
  }
  const fields = { draft, faults, isDisabled, onChange: change }
  const isModelAgent = draft.agent_type === 'LLM_AGENT'
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <Section id="general" title="General">
        <TextField
          label="Name"
          value={draft.name}
          isDisabled={isDisabled}
          onChange={(value) => {
            setTouched(true)
            change({ name: value })
          }}
          error={faults.name}
        />
        <TextField
          label="Description"
          description="Other agents choose the agent by it."
          rows={3}
          value={draft.description}
          isDisabled={isDisabled}
          onChange={(description) => change({ description })}
          error={faults.description}
        />
        <Select
          label="Type"
          description={
            isOrchestrator
              ? 'The orchestrator is always a model agent.'
              : typeWords[draft.agent_type]
          }
          options={types}
          value={draft.agent_type}
          isDisabled={isDisabled || isOrchestrator}
          onChange={(agent_type) => change({ agent_type })}
          error={faults.agent_type}
        />
        {!isOrchestrator && (
          <Checkbox
            isSelected={draft.is_active}
            isDisabled={isDisabled}
            onChange={(is_active) => change({ is_active })}
          >
            Active: other agents may run it, and it can be called
          </Checkbox>
        )}
      </Section>
      {isModelAgent && <ModelSection {...fields} />}
      <TeamSection agentId={agent?.agent_id} {...fields} />
      {isModelAgent && <ToolsSection {...fields} />}
      {isModelAgent && <KnowledgeSection {...fields} />}
      <LimitsSection {...fields} />
      {!isDisabled && (
        <div className={styles.bar}>
          <span className="soft small" role="status">
            {refusal ? (
              <span className="bad">{messageOf(refusal.error)}</span>
            ) : Object.keys(typed).length > 0 && isTouched ? (
              <span className="bad">Some settings are not valid</span>
            ) : (
              summary(draft)
            )}
          </span>
          {agent && (
            <Button
              isDisabled={!isUnsaved || isPending}
              onPress={() => {
                setRefusal(undefined)
                setDraft(initial)
                onDraft?.(false)
              }}
            >
              Discard
            </Button>
          )}
          {triedOf && (
            <Button
              isDisabled={Object.keys(typed).length > 0}
              onPress={() => setTried(triedOf(draft))}
            >
              Try
            </Button>
          )}
          <Button kind="primary" type="submit" isDisabled={isPending || !isUnsaved}>
            {action}
          </Button>
        </div>
      )}
      {tried && <TryDialog draft={tried} onClose={() => setTried(undefined)} />}
    </form>
  )
}
