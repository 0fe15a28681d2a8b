import type { Call } from '../ports/call.ts'
import type { Span, Telemetry } from '../ports/telemetry.ts'
import type { Transacted } from './stream-cache.ts'
import type { Transactor } from './transactor.ts'

type Outcome = Pick<Transacted<unknown, readonly { type: string }[]>, 'events' | 'revision'>

/**
 * A span for each decision: its stream, its events, and the stream's revision after them.
 */
export const tracedTransactor = (inner: Transactor, { begin: spanOf }: Telemetry): Transactor => {
  const began = (name: string, { trace }: Call): Span =>
    spanOf('command', { parent: trace, attributes: { 'reprise.stream': name } })

  const follow = (span: Span, stored: Promise<Outcome>): void => {
    stored.then(
      ({ events, revision }) =>
        span.end({
          'reprise.events': events.map(({ type }) => type),
          'reprise.revision': revision,
        }),
      (error: unknown) => span.end({}, error instanceof Error ? error.name : 'Error'),
    )
  }

  return {
    load: inner.load,
    transact(stream, decide, call) {
      const span = began(stream.name, call)
      const stored = inner.transact(stream, decide, call)
      follow(span, stored)
      return stored
    },
    begin(stream, decide, call) {
      const span = began(stream.name, call)
      const decision = inner.begin(stream, decide, call)
      follow(span, decision.stored)
      return decision
    },
  }
}
