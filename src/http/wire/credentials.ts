import { z } from 'zod'
import { credentialView } from '../../../projections/credentials.ts'
import { credentialName } from '../../domain/credential/credential.ts'

/** The name of a credential that is stored. */
export const named = z.object({
  name: z
    .string()
    .regex(credentialName, 'A name is capitals, digits and _, begins with a letter, at most 64'),
})

export const credentialBody = z.object({ value: z.string().min(1).max(8_192) })

const credential = credentialView.pick({ name: true, created_at: true, updated_at: true })

export const storedCredential = credential.extend({
  created: z.boolean().describe('false: the value replaced an earlier one'),
})

export const credentialList = z.object({ credentials: z.array(credential), total: z.int() })
