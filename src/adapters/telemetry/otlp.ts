import type { Attributes, Span, SpanStart, Telemetry, TraceContext } from '../../ports/telemetry.ts'
import { type MetricSource, producerOf } from './metric-producer.ts'

/** What of the standard variables decides here; the packages read the others themselves. */
export type OtlpOptions = {
  protocol: 'http/protobuf' | 'http/json'
  traces: boolean
  metrics: boolean
  texts: boolean
  version: string
  /** The process's metrics, as of now. */
  metricsNow: MetricSource
}

const flushMs = 2_000
/** Of texts in attributes, unless OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT says otherwise. */
const longestValue = 16_384

const exportersOf = async (protocol: OtlpOptions['protocol']) => {
  if (protocol === 'http/json') {
    const [traces, metrics] = await Promise.all([
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/exporter-metrics-otlp-http'),
    ])
    return { Traces: traces.OTLPTraceExporter, Metrics: metrics.OTLPMetricExporter }
  }
  const [traces, metrics] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/exporter-metrics-otlp-proto'),
  ])
  return { Traces: traces.OTLPTraceExporter, Metrics: metrics.OTLPMetricExporter }
}

/**
 * Traces and metrics over OTLP/HTTP. The packages are loaded here and nowhere else. Spans wait in a
 * queue of bounded length (OTEL_BSP_MAX_QUEUE_SIZE, 2,048); more are dropped.
 */
export const otlpTelemetry = async (options: OtlpOptions) => {
  const [api, trace, metrics, resources, { Traces, Metrics }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/resources'),
    exportersOf(options.protocol),
  ])
  const ours = resources.resourceFromAttributes({
    'service.name': 'reprise',
    'service.version': options.version,
  })
  const detected = resources.detectResources({ detectors: [resources.envDetector] })
  const resource = ours.merge(detected)
  const limit = process.env.OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT
  const provider = new trace.BasicTracerProvider({
    resource,
    ...(limit ? {} : { generalLimits: { attributeValueLengthLimit: longestValue } }),
    spanProcessors: options.traces ? [new trace.BatchSpanProcessor(new Traces())] : [],
  })
  const tracer = provider.getTracer('reprise', options.version)
  const interval = Number(process.env.OTEL_METRIC_EXPORT_INTERVAL) || 60_000
  const timeout = Number(process.env.OTEL_METRIC_EXPORT_TIMEOUT) || 30_000
  const reader = options.metrics
    ? new metrics.PeriodicExportingMetricReader({
        exporter: new Metrics(),
        exportIntervalMillis: interval,
        exportTimeoutMillis: Math.min(interval, timeout),
        metricProducers: [
          producerOf(options.metricsNow, { resource, version: options.version, sdk: metrics }),
        ],
      })
    : undefined
  const meters = new metrics.MeterProvider({ resource, readers: reader ? [reader] : [] })

  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT }

  const under = (parent: TraceContext | undefined) => {
    if (!parent) return api.ROOT_CONTEXT
    const { traceId, spanId, sampled } = parent
    const traceFlags = sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags,
      isRemote: true,
    })
  }

  const mutable = (attributes: Attributes | undefined) => {
    const entries = Object.entries(attributes ?? {})
    return Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
    )
  }

  const beginSpan: Telemetry['begin'] = (name, start: SpanStart = {}): Span => {
    const { kind, parent, attributes } = start
    const span = tracer.startSpan(
      name,
      {
        kind: kind ? kinds[kind] : api.SpanKind.INTERNAL,
        attributes: mutable(attributes),
      },
      under(parent),
    )
    const { traceId, spanId, traceFlags } = span.spanContext()
    const sampled = (traceFlags & api.TraceFlags.SAMPLED) !== 0
    return {
      context: { traceId, spanId, sampled },
      end(attributes, error) {
        if (attributes) span.setAttributes(mutable(attributes))
        if (error !== undefined) {
          span.setAttribute('error.type', error)
          span.setStatus({ code: api.SpanStatusCode.ERROR })
        }
        span.end()
      },
    }
  }

  return {
    telemetry: { begin: beginSpan, texts: options.texts } satisfies Telemetry,
    /** Sends what waits, for a moment. */
    async close(): Promise<void> {
      const late = new Promise((resolve) => setTimeout(resolve, flushMs).unref())
      const completion = Promise.allSettled([provider.shutdown(), meters.shutdown()])
      await Promise.race([completion, late])
    },
  }
}
