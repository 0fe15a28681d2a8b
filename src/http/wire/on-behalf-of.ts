import { z } from 'zod'
import { orAbsent } from './fields.ts'

const userId = z.string().min(1)

/** The user that a call acts for (docs/contract/requests.md#acting-for-a-user), in a query. */
export const queryOnBehalfOf = z.object({ on_behalf_of: userId.optional() })

/** The same in a body, where null counts as absent. */
export const bodyOnBehalfOf = z.object({ on_behalf_of: orAbsent(userId) })

export type OnBehalfOf = z.infer<typeof queryOnBehalfOf>
