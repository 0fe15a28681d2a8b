import { map, type Observable } from 'rxjs'
import type { BodyEvent } from './agent-kind.ts'

/** Stands between paragraphs. */
export const between = '\n\n'

/** Texts one after another, the empty ones left out. */
export const paragraphs = (...texts: readonly string[]): string => {
  let joined = ''
  for (const text of texts) if (text !== '') joined = joined === '' ? text : joined + between + text
  return joined
}

/** Begins a new paragraph with the first token of what follows `said`, so that tokens add up. */
export const following = <Event extends BodyEvent>(
  earlierText: string,
  events: Observable<Event>,
): Observable<Event> => {
  if (earlierText === '') return events
  let first = true
  return events.pipe(
    map((event) => {
      if (!first || event.event !== 'token') return event
      first = false
      const { path: { length } = [] } = event
      return { ...event, text: between + event.text, ...(length > 0 ? { follows: length } : {}) }
    }),
  )
}
