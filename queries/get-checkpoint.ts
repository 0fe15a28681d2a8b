import type { Secrets } from '../src/security/secrets.ts'
import { checkpointText, originOf } from '../src/transparency/checkpoint.ts'
import { type Signer, signerOf } from '../src/transparency/note.ts'
import type { ReadTree } from './read-tree.ts'

type Uses = { readTree: ReadTree; logKeySeed: Secrets['logKeySeed'] }

/** Who signs for an organization: the same on every node that has MASTER_KEY. */
const signerFor =
  (logKeySeed: Secrets['logKeySeed']) =>
  (organizationId: string): Signer =>
    signerOf(originOf(organizationId), logKeySeed(organizationId))

/** The verifier key by which an organization's checkpoints are known. */
export const getLogKey = ({ logKeySeed }: Pick<Uses, 'logKeySeed'>) => {
  const signer = signerFor(logKeySeed)
  return (organizationId: string): string => signer(organizationId).vkey
}
export type GetLogKey = ReturnType<typeof getLogKey>

/** How many events the organization has, and the root of the tree over them, signed. */
export const getCheckpoint = ({ readTree, logKeySeed }: Uses) => {
  const signer = signerFor(logKeySeed)
  return async (organizationId: string): Promise<string> => {
    const { size, root } = await readTree(organizationId)
    const { name, sign } = signer(organizationId)
    return sign(checkpointText({ origin: name, size, root: await root(size) }))
  }
}
export type GetCheckpoint = ReturnType<typeof getCheckpoint>
