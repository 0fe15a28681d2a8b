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

/** A row of a run or of a tool, and the event that it began with. */
type Started = { row: Row; start: TreeEvent }

/** The tree of a session so far. */
type Tree = {
  session: string
  rows: Row[]
  runs: Map<string, Started>
  steps: Map<string, Row>
  tools: Map<string, Started>
  /** The depth of the agent of this name that was started last. */
  depths: Map<string, number>
}

const addRow = ({ rows }: Tree, depth: number, name: string, ...facts: Row['facts']): Row => {
  const row = { depth, name, facts }
  rows.push(row)
  return row
}

/** The row of a run. Its message may come before `RunStarted`. */
const runRow = (tree: Tree, runId = ''): Row => {
  const name = `run ${runId}`
  const row = tree.runs.get(runId)?.row ?? tree.rows.findLast((other) => other.name === name)
  return row ?? addRow(tree, 0, name, 'still running')
}

const depthBelow = ({ depths }: Tree, agent: string | undefined): number =>
  (depths.get(agent ?? '') ?? 0) + 1

const handlers: Readonly<Record<string, (tree: Tree, event: TreeEvent) => void>> = {
  SessionCreated: (tree, { data, metadata }) => {
    const owner = data.userId && `of user ${data.userId}`
    addRow(tree, 0, `session ${tree.session}`, owner, `created ${metadata.at}`)
  },
  ForkBegun: (tree, { data, metadata }) => {
    const owner = data.userId && `of user ${data.userId}`
    const source = data.forkedFrom && `forked from ${data.forkedFrom}`
    addRow(tree, 0, `session ${tree.session}`, owner, source, metadata.at)
  },
  MessageForked: (tree, { data }) => {
    addRow(tree, 1, `${data.agent ?? data.saidBy}: ${textOf(data.content)}`)
  },
  SessionErased: (tree, { metadata }) => {
    addRow(tree, 0, 'erased', metadata.at)
  },
  UserMessageSent: (tree, { data }) => {
    runRow(tree, data.runId)
    addRow(tree, 1, `user: ${textOf(data.content)}`)
  },
  ClientToolAnswered: (tree, { data }) => {
    runRow(tree, data.runId)
    addRow(tree, 1, `client tool ${data.tool}: ${textOf(data.content)}`)
  },
  RunStarted: (tree, event) => {
    const { runId = '' } = event.data
    tree.runs.set(runId, { row: runRow(tree, runId), start: event })
  },
  AgentStarted: (tree, { data }) => {
    const depth = 1 + (data.depth ?? 0)
    tree.depths.set(data.agent ?? '', depth)
    tree.steps.set(data.stepId ?? '', addRow(tree, depth, data.agent ?? '', data.agentType))
  },
  AgentCompleted: (tree, { data }) => {
    const row = tree.steps.get(data.stepId ?? '')
    const failed = data.error && `failed: ${data.error}`
    row?.facts.push(duration(data.durationMs), tokens(data), data.model ?? undefined, failed)
  },
  AgentRouted: (tree, { data }) => {
    addRow(tree, depthBelow(tree, data.fromAgent), `→ ${data.toAgent}`)
  },
  RunLimitReached: (tree, { data }) => {
    const { limit, used = 0, allowed = 0 } = data
    const unit = limit === 'credits' ? creditUnit : 1
    const name = `limit of ${limit?.replace('_', ' ')}`
    addRow(tree, 1, name, `${used / unit} of ${allowed / unit}`)
  },
  ToolStarted: (tree, event) => {
    const { agent, tool, toolId = '' } = event.data
    const row = addRow(tree, depthBelow(tree, agent), `tool ${tool}`)
    tree.tools.set(toolId, { row, start: event })
  },
  // Steps that were stored together have the same time: their duration is unknown.
  ToolCompleted: (tree, event) => {
    const tool = tree.tools.get(event.data.toolId ?? '')
    tool?.row.facts.push(
      event.data.ok ? 'ok' : 'failed',
      duration(between(tool.start, event) || undefined),
    )
  },
  ClientToolsCalled: (tree, { data }) => {
    for (const { name } of data.calls ?? []) addRow(tree, 1, `client tool ${name}`)
  },
  AssistantMessageRecorded: (tree, { data }) => {
    addRow(tree, 1, `${data.agent}: ${textOf(data.content)}`)
  },
}

/** Writes how a run ended, and its cost, into its row. */
const noteRunEnd = ({ runs }: Tree, event: TreeEvent): void => {
  const { type, data } = event
  const outcome = runEnds[type]
  const run = runs.get(data.runId ?? '')
  if (!outcome || !run) return
  run.row.facts = [
    data.code ? `${outcome}: ${data.code}` : outcome,
    duration(data.durationMs ?? between(run.start, event)),
    tokens(data),
    `${((data.charge ?? 0) / creditUnit).toFixed(6)} credits`,
    run.start.metadata.at,
  ]
}

const lineOf = ({ depth, name, facts }: Row): string =>
  `${'  '.repeat(depth)}${[name, ...facts.filter(Boolean)].join('  ')}`

/**
 * A session's runs as an indented tree: the messages, which agents and tools ran below which,
 * durations and costs. Takes its id and the events of its stream in order.
 */
export const sessionTree = (session: string, events: readonly unknown[]): string => {
  const maps = { runs: new Map(), steps: new Map(), tools: new Map(), depths: new Map() }
  const tree: Tree = { session, rows: [], ...maps }
  for (const input of events) {
    const event = treeEvent.parse(input)
    handlers[event.type]?.(tree, event)
    noteRunEnd(tree, event)
  }
  return tree.rows.map(lineOf).join('\n')
}
