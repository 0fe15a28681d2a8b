import { z } from 'zod'
import { credentialView } from '../../../projections/credentials.ts'
import { mostHosts } from '../../domain/agent/credential-hosts.ts'
import { credentialName } from '../../domain/credential/credential.ts'

/** The name of a credential that is stored. */
export const named = z.object({
  name: z
    .string()
    .regex(credentialName, 'A name is capitals, digits and _, begins with a letter, at most 64'),
})

/**
 * A host as addresses have it: in lower case and punycode, without the port that https has anyway.
 */
const host = z
  .string()
  .max(255)
  .refine((text) => /^[^/?#\\@{}\s]+$/.test(text) && URL.canParse(`https://${text}/`), {
    message: 'A host is expected, such as api.example.com or api.example.com:8443',
  })
  .transform((text) => new URL(`https://${text}/`).host)

export const credentialBody = z.object({
  value: z.string().min(1).max(8_192),
  hosts: z
    .array(host)
    .max(mostHosts)
    .optional()
    .describe('Hosts that may be sent the value; by default those of the tools that name it now'),
})

const credential = credentialView.pick({ name: true, created_at: true, updated_at: true })

export const storedCredential = credential.extend({
  created: z.boolean().describe('false: the value replaced an earlier one'),
})

export const credentialList = z.object({ credentials: z.array(credential), total: z.int() })
