import { z } from 'zod'

/**
 * Text that is stored encrypted (message text, prompts, tool arguments, emails, names).
 * `$sealed` names the data key, `box` is base64 of nonce, ciphertext and tag. The domain passes
 * it on unopened; only `src/security/vault.ts` seals and opens. Once the key is destroyed the text
 * is gone from every store while the event stays byte for byte what it was.
 */
export const sealed = z.object({ $sealed: z.string(), box: z.string() })

export type Sealed = z.infer<typeof sealed>
