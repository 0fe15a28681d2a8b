import type { MetricSource } from '../adapters/telemetry/metric-producer.ts'
import type { Config } from '../config.ts'
import type { Telemetry } from '../ports/telemetry.ts'

type Uses = {
  config: Pick<
    Config,
    | 'OTEL_EXPORTER_OTLP_ENDPOINT'
    | 'OTEL_EXPORTER_OTLP_PROTOCOL'
    | 'OTEL_TRACES_EXPORTER'
    | 'OTEL_METRICS_EXPORTER'
    | 'OTEL_SDK_DISABLED'
    | 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'
  >
  metricsNow: MetricSource
  version: string
}

/** Where traces go, when a receiver is named; else nothing is loaded. */
export const openTelemetry = async ({
  config,
  metricsNow,
  version,
}: Uses): Promise<{ telemetry: Telemetry | undefined; close(): Promise<void> }> => {
  const named = config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined
  const traces = config.OTEL_TRACES_EXPORTER === 'otlp'
  const metrics = config.OTEL_METRICS_EXPORTER === 'otlp'
  if (!named || config.OTEL_SDK_DISABLED || !(traces || metrics))
    return { telemetry: undefined, close: async () => undefined }
  const { otlpTelemetry } = await import('../adapters/telemetry/otlp.ts')
  const { telemetry, close } = await otlpTelemetry({
    protocol: config.OTEL_EXPORTER_OTLP_PROTOCOL,
    traces,
    metrics,
    texts: config.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
    version,
    metricsNow,
  })
  return { telemetry: traces ? telemetry : undefined, close }
}
