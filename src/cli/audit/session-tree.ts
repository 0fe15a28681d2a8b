import { z } from 'zod'
import { creditUnit } from '../../domain/amounts.ts'
import { shortText } from '../../support/cut-text.ts'

const widest = 60

/**
 * The fields that are shown of a session's events; texts are opened, sealed, erased or withheld.
 */
const treeEvent = z.looseObject({
  type: z.string(),
  metadata: z.looseObject({ at: z.string() }),
  data: z
    .looseObject({
      runId: z.string(),
      stepId: z.string(),
      toolId: z.string(),
      userId: z.string(),
      forkedFrom: z.string(),
      saidBy: z.string(),
      agent: z.string(),
      agentType: z.string(),
      tool: z.string(),
      fromAgent: z.string(),
      toAgent: z.string(),
      code: z.string(),
      error: z.string(),
      depth: z.number(),
      durationMs: z.number(),
      promptTokens: z.number(),
      completionTokens: z.number(),
      charge: z.number(),
      model: z.string().nullable(),
      ok: z.boolean(),
      content: z.unknown(),
      calls: z.array(z.looseObject({ name: z.string() })),
      limit: z.string(),
      used: z.number(),
      allowed: z.number(),
    })
    .partial(),
})
type TreeEvent = z.infer<typeof treeEvent>

/** A line of the tree: its depth, its name and its details. */
type Row = { depth: number; name: string; facts: (string | undefined)[] }

const runEnds: Readonly<Record<string, string>> = {
  RunCompleted: 'completed',
  RunFailed: 'failed',
  RunCancelled: 'cancelled',
  RunTimedOut: 'timed out',
}

const duration = (ms: number | undefined): string | undefined =>
  ms === undefined
    ? undefined
    : ms < 1_000
      ? `${Math.round(ms)} ms`
      : `${(ms / 1_000).toFixed(1)} s`

const tokens = ({
  promptTokens: prompt = 0,
  completionTokens: completion = 0,
}: TreeEvent['data']) => (prompt + completion > 0 ? `${prompt} + ${completion} tokens` : undefined)

const textOf = (content: unknown): string => {
  if (typeof content !== 'string')
    return typeof content === 'object' && content !== null && 'erased' in content
      ? '(erased)'
      : '(sealed)'
  const line = content.replace(/\s+/g, ' ')
  return shortText(line, widest)
}

const between = (start: TreeEvent | undefined, { metadata }: TreeEvent): number | undefined =>
  start && Math.max(0, Date.parse(metadata.at) - Date.parse(start.metadata.at))

/**
 * A session's runs as an indented tree: the messages, which agents and tools ran below which,
 * durations and costs. Takes its id and the events of its stream in order.
 */
export const sessionTree = (session: string, events: readonly unknown[]): string => {
  const rows: Row[] = []
  const runs = new Map<string, { row: Row; start: TreeEvent }>()
  const steps = new Map<string, Row>()
  const tools = new Map<string, { row: Row; start: TreeEvent }>()
  /** The depth of the agent of this name that was started last. */
  const depths = new Map<string, number>()

  const add = (depth: number, name: string, ...facts: Row['facts']): Row => {
    const row = { depth, name, facts }
    rows.push(row)
    return row
  }
  /** The row of a run, which its message may come before. */
  const rowOf = (runId = ''): Row => {
    const name = `run ${runId}`
    const row = runs.get(runId)?.row ?? rows.findLast((other) => other.name === name)
    return row ?? add(0, name, 'still running')
  }
  const below = (agent: string | undefined): number => (depths.get(agent ?? '') ?? 0) + 1

  const handlers: Readonly<Record<string, (event: TreeEvent) => void>> = {
    SessionCreated: ({ data, metadata }) => {
      add(
        0,
        `session ${session}`,
        data.userId && `of user ${data.userId}`,
        `created ${metadata.at}`,
      )
    },
    ForkBegun: ({ data, metadata }) => {
      const { userId, forkedFrom } = data
      add(
        0,
        `session ${session}`,
        userId && `of user ${userId}`,
        forkedFrom && `forked from ${forkedFrom}`,
        metadata.at,
      )
    },
    MessageForked: ({ data }) => {
      add(1, `${data.agent ?? data.saidBy}: ${textOf(data.content)}`)
    },
    SessionErased: ({ metadata }) => {
      add(0, 'erased', metadata.at)
    },
    UserMessageSent: ({ data }) => {
      rowOf(data.runId)
      add(1, `user: ${textOf(data.content)}`)
    },
    ClientToolAnswered: ({ data }) => {
      rowOf(data.runId)
      add(1, `client tool ${data.tool}: ${textOf(data.content)}`)
    },
    RunStarted: (event) => {
      const { runId = '' } = event.data
      runs.set(runId, { row: rowOf(runId), start: event })
    },
    AgentStarted: ({ data }) => {
      const depth = 1 + (data.depth ?? 0)
      depths.set(data.agent ?? '', depth)
      steps.set(data.stepId ?? '', add(depth, data.agent ?? '', data.agentType))
    },
    AgentCompleted: ({ data }) => {
      const row = steps.get(data.stepId ?? '')
      const failed = data.error && `failed: ${data.error}`
      row?.facts.push(duration(data.durationMs), tokens(data), data.model ?? undefined, failed)
    },
    AgentRouted: ({ data }) => {
      add(below(data.fromAgent), `→ ${data.toAgent}`)
    },
    RunLimitReached: ({ data }) => {
      const { limit, used = 0, allowed = 0 } = data
      const unit = limit === 'credits' ? creditUnit : 1
      add(1, `limit of ${limit?.replace('_', ' ')}`, `${used / unit} of ${allowed / unit}`)
    },
    ToolStarted: (event) => {
      const { agent, tool, toolId = '' } = event.data
      tools.set(toolId, { row: add(below(agent), `tool ${tool}`), start: event })
    },
    // Steps that were stored together have the same time: their duration is unknown.
    ToolCompleted: (event) => {
      const tool = tools.get(event.data.toolId ?? '')
      tool?.row.facts.push(
        event.data.ok ? 'ok' : 'failed',
        duration(between(tool.start, event) || undefined),
      )
    },
    ClientToolsCalled: ({ data }) => {
      for (const { name } of data.calls ?? []) add(1, `client tool ${name}`)
    },
    AssistantMessageRecorded: ({ data }) => {
      add(1, `${data.agent}: ${textOf(data.content)}`)
    },
  }

  for (const input of events) {
    const event = treeEvent.parse(input)
    const { type, data } = event
    handlers[type]?.(event)
    const end = runEnds[type]
    const run = runs.get(data.runId ?? '')
    if (!end || !run) continue
    run.row.facts = [
      data.code ? `${end}: ${data.code}` : end,
      duration(data.durationMs ?? between(run.start, event)),
      tokens(data),
      `${((data.charge ?? 0) / creditUnit).toFixed(6)} credits`,
      run.start.metadata.at,
    ]
  }
  return rows
    .map(
      ({ depth, name, facts }) =>
        `${'  '.repeat(depth)}${[name, ...facts.filter(Boolean)].join('  ')}`,
    )
    .join('\n')
}
