import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { CountWaitingRuns } from '../../../queries/count-waiting-runs.ts'
import type { ListUnreadable } from '../../../queries/list-unreadable.ts'
import type { Distance } from '../../ports/event-store.ts'
import type { BufferBudget } from '../../support/buffer-budget.ts'
import { histogram, type Observed } from './counted.ts'

type Sources = {
  /** Has other metrics already, and gets these. */
  registry: Registry
  /** The position of the last event. */
  head(): Promise<number>
  /** How far the views are behind the log's head. */
  lag(): Promise<Distance>
  /** The same for the views that are folded later. */
  laterLag(): Promise<Distance>
  /** Stored events set aside as unreadable. */
  unreadable: ListUnreadable
  running(): number
  /** Runs of all nodes that wait for somebody. */
  waitingRuns: CountWaitingRuns
  /** Events found in our namespace that are not ours. */
  foreignEvents(): number
  /** Connections beyond the limit, or that the system could not accept. */
  connectionsRefused(): number
  /** Free bytes of the disk, and its reserve in bytes. */
  disk(): { free: number; reserve: number }
  /** Log lines that standard output did not take. */
  logLinesDropped(): number
  buffers: Pick<BufferBudget, 'held' | 'dropped'>
}

/** How many unreadable events have a line of their own. */
const mostNamed = 100

/** When a store does not answer, its metric has no value and the others stay. */
const unknown = () => Number.NaN

let ofNode: Registry | undefined

/**
 * Node's own metrics, measured once in a process whatever opens there: prom-client never ends what
 * it measures with, a timer among it.
 */
const nodeMetrics = (): Registry => {
  if (ofNode) return ofNode
  ofNode = new Registry()
  collectDefaultMetrics({ register: ofNode })
  return ofNode
}

const addNodeMetrics = (registry: Registry): void => {
  const measured = nodeMetrics()
  for (const { name } of measured.getMetricsAsArray()) {
    const metric = measured.getSingleMetric(name)
    if (metric) registry.registerMetric(metric)
  }
}

/** Prometheus metrics of this process. */
export const processMetrics = ({
  registry,
  head,
  lag,
  laterLag,
  unreadable,
  running,
  waitingRuns,
  buffers,
  ...counts
}: Sources) => {
  const registers = [registry]
  addNodeMetrics(registry)
  const durations = histogram({
    name: 'reprise_http_request_duration_seconds',
    help: 'Time to answer a request, by route, method and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registry,
  })
  new Gauge({
    name: 'reprise_event_store_position',
    help: 'Position of the last event in the event store',
    registers,
    async collect() {
      this.set(await head().catch(unknown))
    },
  })
  const lagGauge = (name: string, help: string, measure: () => Promise<Distance>) =>
    new Gauge({
      name,
      help,
      labelNames: ['unit'],
      registers,
      async collect() {
        this.reset()
        const none = { amount: Number.NaN, unit: 'events' }
        const { amount, unit } = await measure().catch(() => none)
        this.set({ unit }, amount)
      },
    })
  lagGauge(
    'reprise_projection_lag',
    'How far the views are behind the head of the event store',
    lag,
  )
  lagGauge(
    'reprise_later_projection_lag',
    'How far the views that only auditors and analysts read are behind it',
    laterLag,
  )
  new Gauge({
    name: 'reprise_unreadable_events',
    help: 'Stored events that cannot be read and were set aside; each node tells the same',
    registers,
    async collect() {
      this.set((await unreadable(0).catch(() => ({ total: Number.NaN }))).total)
    },
  })
  new Gauge({
    name: 'reprise_unreadable_event',
    help: `The first ${mostNamed} of them, each with the value 1`,
    labelNames: ['position', 'stream', 'type', 'reason'],
    registers,
    async collect() {
      this.reset()
      const { events } = await unreadable(mostNamed).catch(() => ({ events: [] }))
      for (const { position, stream, type, reason } of events)
        this.set({ position: String(position), stream, type, reason }, 1)
    },
  })
  new Gauge({
    name: 'reprise_runs_in_flight',
    help: 'Runs under way in this process',
    registers,
    collect() {
      this.set(running())
    },
  })
  new Gauge({
    name: 'reprise_runs_waiting',
    help: 'Runs of all nodes that wait for somebody, by what for; each node tells the same',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset()
      for (const { state, total } of await waitingRuns().catch(() => [])) this.set({ state }, total)
    },
  })

  new Gauge({
    name: 'reprise_disk_free_bytes',
    help: 'Free space of the disk that DATA_DIR is on',
    registers,
    collect() {
      this.set(counts.disk().free)
    },
  })
  new Gauge({
    name: 'reprise_disk_reserve_bytes',
    help: 'Free space below which writes are refused; files below twice as much',
    registers,
    collect() {
      this.set(counts.disk().reserve)
    },
  })

  new Counter({
    name: 'reprise_connections_refused_total',
    help: 'Connections of clients that were closed at once: there are too many',
    registers,
    collect() {
      this.reset()
      this.inc(counts.connectionsRefused())
    },
  })
  new Gauge({
    name: 'reprise_buffer_bytes',
    help: 'Memory of requests that wait, and of answers and feed items that are not read',
    registers,
    collect() {
      this.set(buffers.held())
    },
  })
  new Counter({
    name: 'reprise_buffers_dropped_total',
    help: 'Connections and feeds that were closed as buffers were over their budget',
    registers,
    collect() {
      this.reset()
      this.inc(buffers.dropped())
    },
  })
  new Counter({
    name: 'reprise_foreign_events_total',
    help: 'Events in our namespace of the event store that are not ours and were skipped',
    registers,
    collect() {
      this.reset()
      this.inc(counts.foreignEvents())
    },
  })
  new Counter({
    name: 'reprise_log_lines_dropped_total',
    help: 'Log lines that standard output did not take, and that were not waited for',
    registers,
    collect() {
      this.reset()
      this.inc(counts.logLinesDropped())
    },
  })

  /** By route, method and status: as many as there are labels. */
  const observed = new Map<string, Map<string, Map<number, Observed>>>()
  const durationsOf = (method: string, route: string, status: number): Observed => {
    const known = observed.get(route)?.get(method)?.get(status)
    if (known) return known
    const ofRoute = observed.get(route) ?? new Map<string, Map<number, Observed>>()
    const ofMethod = ofRoute.get(method) ?? new Map<number, Observed>()
    const duration = durations.of({ method, route, status: String(status) })
    observed.set(route, ofRoute.set(method, ofMethod.set(status, duration)))
    return duration
  }

  let rendering: Promise<string> | undefined
  const render = () =>
    registry.metrics().finally(() => {
      rendering = undefined
    })

  return {
    observe: (method: string, route: string, status: number, seconds: number): void =>
      durationsOf(method, route, status).observe(seconds),
    /** In Prometheus' text format; made once for all who ask for it at once. */
    text: (): Promise<string> => {
      rendering ??= render()
      return rendering
    },
    contentType: registry.contentType,
  }
}

export type Metrics = ReturnType<typeof processMetrics>
