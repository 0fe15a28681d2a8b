import type { Secrets } from '../src/security/secrets.ts'
import { originOf } from '../src/transparency/checkpoint.ts'
import { type Signer, signerOf } from '../src/transparency/note.ts'

/** The name and key that sign an organization's history: the same on every node. */
export const signerFor =
  (logKeySeed: Secrets['logKeySeed']) =>
  (organizationId: string): Signer =>
    signerOf(originOf(organizationId), logKeySeed(organizationId))

/** The verifier key by which an organization's checkpoints are known. */
export const getLogKey = ({ logKeySeed }: Pick<Secrets, 'logKeySeed'>) => {
  const signer = signerFor(logKeySeed)
  return (organizationId: string): string => signer(organizationId).vkey
}
export type GetLogKey = ReturnType<typeof getLogKey>
