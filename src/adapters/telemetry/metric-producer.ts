import type { HrTime } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { MetricData, MetricProducer } from '@opentelemetry/sdk-metrics'

type Labels = Readonly<Partial<Record<string, string | number>>>

/** A metric as the registry of `/metrics` gives it. */
export type Metric = {
  name: string
  help: string
  type: string
  values: readonly {
    value: number
    labels: Labels
    metricName?: string | undefined
  }[]
}
export type MetricSource = () => Promise<readonly Metric[]>

type Sdk = Pick<
  typeof import('@opentelemetry/sdk-metrics'),
  'AggregationTemporality' | 'DataPointType'
>
type Uses = { resource: Resource; version: string; sdk: Sdk }

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

/** The buckets of a histogram that counts cumulatively, as OTLP has them: each for itself. */
const histograms = (values: Metric['values']) => {
  const byLabels = new Map<
    string,
    { labels: Labels; bounds: number[]; upTo: number[]; sum: number; count: number }
  >()
  for (const { labels: all, metricName = '', value } of values) {
    const { le, ...labels } = all
    const key = JSON.stringify(labels)
    const histogram = byLabels.get(key) ?? { labels, bounds: [], upTo: [], sum: 0, count: 0 }
    byLabels.set(key, histogram)
    if (metricName.endsWith('_sum')) histogram.sum = value
    else if (metricName.endsWith('_count')) histogram.count = value
    else if (le !== undefined && le !== '+Inf') {
      histogram.bounds.push(Number(le))
      histogram.upTo.push(value)
    }
  }
  return [...byLabels.values()].map(({ labels, bounds, upTo, sum, count }) => ({
    labels,
    value: {
      buckets: {
        boundaries: bounds,
        counts: [...upTo, count].map((n, at) => n - (upTo[at - 1] ?? 0)),
      },
      sum,
      count,
    },
  }))
}

/** Sends the same metrics as `/metrics` has: each is measured once. */
export const producerOf = (source: MetricSource, { resource, version, sdk }: Uses) => {
  const { AggregationTemporality, DataPointType } = sdk
  const began = Date.now()
  const startTime = hrTime(began)

  const dataOf = ({ name, help, type, values }: Metric): MetricData | undefined => {
    const endTime = hrTime(Math.max(began, Date.now()))
    const descriptor = { name, description: help, unit: '', valueType: 1, advice: {} }
    const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
    const times = { startTime, endTime }
    if (type === 'histogram') {
      const dataPoints = histograms(values).map(({ labels, value }) => ({
        ...times,
        attributes: { ...labels },
        value,
      }))
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }
    }
    const dataPoints = values
      .filter(({ value }) => Number.isFinite(value))
      .map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }))
    if (type === 'counter')
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    return type === 'gauge'
      ? { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
      : undefined
  }

  return {
    async collect() {
      const metrics = (await source()).flatMap((metric) => dataOf(metric) ?? [])
      const scopeMetrics = [{ scope: { name: 'reprise', version }, metrics }]
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] }
    },
  } satisfies MetricProducer
}
