import { catchError, defer, map, type Observable, tap } from 'rxjs'
import type { Model, ModelEvent, ModelRequest, ResolvedModel } from '../../ports/model.ts'
import { isOutage } from './circuit.ts'

/**
 * Asks the models in order: the next one when a provider is down and nothing was said yet. `done`
 * names the one that answered, whose price it is. A request that is at fault fails with the first.
 */
export const withFallback = (first: ResolvedModel, others: readonly ResolvedModel[]): Model => {
  const ask = (
    { model, id, name, price }: ResolvedModel,
    rest: readonly ResolvedModel[],
    request: ModelRequest,
  ): Observable<ModelEvent> =>
    defer(() => {
      let begun = false
      return model.stream({ ...request, model: id }).pipe(
        tap(() => {
          begun = true
        }),
        map((event) => (event.type === 'done' ? { ...event, by: { name, price } } : event)),
        catchError((error: unknown) => {
          const [next, ...later] = rest
          if (begun || !next || !isOutage(error)) throw error
          return ask(next, later, request)
        }),
      )
    })
  return { stream: (request) => ask(first, others, request) }
}
