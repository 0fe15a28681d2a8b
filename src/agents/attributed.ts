import { Observable, takeWhile } from 'rxjs'
import type { Clock } from '../ports/clock.ts'
import type { AgentEvent } from './agent-event.ts'

/**
 * From the first PARALLEL_AGENT of a turn on, tokens are preceded by `token_agent` whenever their
 * producer changes. Stands where all branches have come together, so that the order it sees is
 * the order the client sees.
 */
export const attributed = (events: Observable<AgentEvent>, clock: Clock): Observable<AgentEvent> =>
  new Observable((subscriber) => {
    let mingled = false
    let producer = ''
    // A synchronous burst does not see an unsubscribe below it: takeWhile ends it.
    return events.pipe(takeWhile(() => !subscriber.closed)).subscribe({
      next: (event) => {
        if (event.event === 'agent_started' && event.agent_type === 'PARALLEL_AGENT') mingled = true
        if (mingled && event.event === 'token' && event.step_id !== producer) {
          producer = event.step_id
          const timestamp = clock.now().toISOString()
          subscriber.next({ event: 'token_agent', agent: event.agent, timestamp })
        }
        subscriber.next(event)
      },
      error: (error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    })
  })
