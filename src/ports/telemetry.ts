/** A span's place, as W3C trace context names it. */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean }

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** Something that takes time. It is sent once it has ended. */
export type Span = {
  context: TraceContext
  /** `error` is set where it failed: a code, never what was said. */
  end(attributes?: Attributes, error?: string): void
}

export type SpanStart = {
  kind?: 'server' | 'client'
  parent?: TraceContext | undefined
  attributes?: Attributes
}

/**
 * Where traces go. There is none unless the operator names a receiver. It never delays and never
 * throws, and drops data that a receiver does not take in time.
 */
export type Telemetry = {
  begin(name: string, start?: SpanStart): Span
  /** Texts of conversations may be sent too. */
  texts: boolean
}
