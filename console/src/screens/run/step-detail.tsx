import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { z } from 'zod'
import { Count, Credits, Duration } from '../../components/amounts.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { CodeBlock, JsonBlock } from '../../components/code-block.tsx'
import { QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import { MessageText } from './message-text.tsx'
import { type RunEvent, stepEventsQuery } from './run-queries.ts'
import styles from './steps.module.css'
import type { Step } from './steps.ts'

const kinds: Readonly<Record<Step['kind'], string>> = {
  agent: 'Agent',
  model: 'Model call',
  tool: 'Tool call',
  approval: 'Approval',
  attempt: 'Attempt',
}

/** A text of an event; undefined: it has none, or it was erased. */
const textIn = (event: RunEvent | undefined, field: string): string | undefined =>
  z.string().optional().catch(undefined).parse(event?.data[field])

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** JSON is indented; what is too long begins with its first part. */
const Block = ({ title, text }: { title: string; text: string | undefined }) => {
  if (text === undefined || text === '') return null
  return text.length > 100_000 ? (
    <div className="stack">
      <h3>{title}</h3>
      <MessageText text={text} isMarkdown={false} />
    </div>
  ) : (
    <CodeBlock title={title} code={indented(text)} wrap />
  )
}

const calls = z.array(z.looseObject({ name: z.string(), arguments: z.unknown() }))

const Texts = ({ events }: { events: readonly RunEvent[] }) => {
  const [isJson, setJson] = useState(false)
  const find = (...types: string[]) => events.find(({ type }) => types.includes(type))
  const answer = find('ModelAnswered')
  const called = calls.safeParse(answer?.data.calls).data ?? []
  const end = find('ToolCompleted', 'ToolOutcomeTold')
  return (
    <>
      <Block
        title="Arguments"
        text={textIn(find('ToolStarted', 'ApprovalRequested'), 'arguments')}
      />
      <Block title="Result" text={textIn(end, 'result')} />
      <Block title="Answer" text={textIn(answer, 'text')} />
      {called.map(({ name, arguments: given }, index) => (
        <Block
          // biome-ignore lint/suspicious/noArrayIndexKey: calls never change places
          key={index}
          title={`Call of ${name}`}
          text={typeof given === 'string' ? given : JSON.stringify(given)}
        />
      ))}
      <Block title="Error" text={textIn(find('AgentCompleted'), 'error')} />
      <Block title="Reason" text={textIn(find('ApprovalDecided'), 'reason')} />
      {events.length > 0 && (
        <div>
          <Button onPress={() => setJson(!isJson)}>{isJson ? 'Hide JSON' : 'Show JSON'}</Button>
        </div>
      )}
      {isJson &&
        events.map((event) => <JsonBlock key={event.id} title={event.type} value={event} />)}
    </>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

type StepDetailProps = { run: RunSummary; step: Step; onClose: () => void }

/** One step: its facts, and what it was told and said as it was recorded. */
export const StepDetail = ({ run, step, onClose }: StepDetailProps) => {
  const { organizationId } = useSession()
  const query = useQuery(stepEventsQuery(organizationId, run, step))
  return (
    <section className={classNames('card', styles.detail)} aria-label="Step">
      <header className={styles.detailHead}>
        <h2 dir="auto">{step.name || kinds[step.kind]}</h2>
        <IconButton icon="close" label="Close the step" onPress={onClose} />
      </header>
      <dl className={styles.facts}>
        <Fact name="Kind">{kinds[step.kind]}</Fact>
        <Fact name="Status">
          <Status status={step.status} />
        </Fact>
        <Fact name="Agent">
          <span dir="auto">{step.agent_name}</span>
        </Fact>
        <Fact name="Started">
          <Time at={step.started_at} absolute />
        </Fact>
        <Fact name="Duration">
          <Duration ms={step.duration_ms} />
        </Fact>
        {step.tokens !== null && (
          <Fact name="Tokens">
            <Count of={step.tokens} />
          </Fact>
        )}
        {step.charge !== null && (
          <Fact name="Credits">
            <Credits amount={step.charge} />
          </Fact>
        )}
        {step.code && (
          <Fact name="Error code">
            <code>{step.code}</code>
          </Fact>
        )}
        <Fact name="Step">
          <code>{step.step_id}</code>
        </Fact>
      </dl>
      {step.kind !== 'attempt' && (
        <QueryView query={query} skeleton={<Skeleton lines={4} />}>
          {(events) => <Texts events={events} />}
        </QueryView>
      )}
    </section>
  )
}
