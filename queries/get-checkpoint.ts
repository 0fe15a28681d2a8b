import type { Secrets } from '../src/security/secrets.ts'
import { checkpointText } from '../src/transparency/checkpoint.ts'
import { signerFor } from './get-log-key.ts'
import type { ReadTree } from './read-tree.ts'

type Uses = { readTree: ReadTree; logKeySeed: Secrets['logKeySeed'] }

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
