import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from './client.ts'

type Charges = Answer<'/api/admin/organizations/{organization_id}/audit/charges'>
export type Charge = Charges['charges'][number]
export type Term = Charge['terms'][number]
export type ModelTerm = Extract<Term, { kind: 'model' }>
export type Source = ModelTerm['sources'][number]
export type EventRef = Charge['started_by']

/** The charges of a run and of the content that it requested. */
export const chargesQuery = (organizationId: string, runId: string) =>
  queryOptions({
    queryKey: ['charges', organizationId, runId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/audit/charges', {
          params: { path: { organization_id: organizationId }, query: { run_id: runId } },
        }),
      ),
  })

const contents = { image: 'Image', video: 'Video', audio: 'Audio', glb: '3D model' } as const

/** What a term of a charge is called. */
export const nameOf = (term: Term): string => {
  if (term.kind === 'model') return term.model
  if (term.kind === 'generation') return contents[term.content_type]
  return term.kind === 'limit' ? 'Limit of the agent' : 'Adjustment'
}
