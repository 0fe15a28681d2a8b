import { catchError, defer, map, type Observable, tap } from 'rxjs'
import type {
  ContentKind,
  Model,
  ModelEvent,
  ModelRequest,
  ResolvedModel,
} from '../../ports/model.ts'
import { isOutage } from './circuit.ts'

const kindsIn = ({ messages }: ModelRequest): ContentKind[] =>
  messages.flatMap((message) =>
    'parts' in message ? (message.parts ?? []).map(({ kind }) => kind) : [],
  )

/**
 * Asks the models in order: the next one if a provider is down and nothing has been emitted. `done`
 * names the model that answered, whose price applies. A faulty request fails at the first model.
 * Skips models that do not take the messages' kinds of content.
 */
export const withFallback = (first: ResolvedModel, others: readonly ResolvedModel[]): Model => {
  const ask = (
    { model, id, name, price }: ResolvedModel,
    rest: readonly ResolvedModel[],
    request: ModelRequest,
    isBuffered?: boolean,
  ): Observable<ModelEvent> =>
    defer(() => {
      let hasEvents = false
      return model.stream({ ...request, model: id }, isBuffered).pipe(
        tap(() => {
          hasEvents = true
        }),
        map((event) => (event.type === 'done' ? { ...event, by: { name, price } } : event)),
        catchError((error: unknown) => {
          const [next, ...later] = rest
          if (hasEvents || !next || !isOutage(error)) throw error
          return ask(next, later, request, isBuffered)
        }),
      )
    })
  return {
    stream: (request, isBuffered) => {
      const kinds = kindsIn(request)
      const able = others.filter(({ takes }) => kinds.every((kind) => takes.has(kind)))
      return ask(first, able, request, isBuffered)
    },
  }
}
