import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

type Sources = {
  /** Position distance between the log's head and what the views show. */
  lag(): number | Promise<number>
  running(): number
}

/** Prometheus metrics of this process. */
export const processMetrics = ({ lag, running }: Sources) => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'reprise_http_request_duration_seconds',
    help: 'Time to answer a request, by route, method and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  })
  const appended = new Counter({
    name: 'reprise_events_appended_total',
    help: 'Events appended to the event store',
    registers,
  })
  new Gauge({
    name: 'reprise_projection_lag',
    help: 'How far the views are behind the head of the event store, in positions',
    registers,
    async collect() {
      this.set(await lag())
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

  return {
    observe: (method: string, route: string, status: number, seconds: number): void =>
      durations.labels(method, route, String(status)).observe(seconds),
    appended: (events: number): void => appended.inc(events),
    /** In Prometheus' text format. */
    text: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
  }
}

export type Metrics = ReturnType<typeof processMetrics>
