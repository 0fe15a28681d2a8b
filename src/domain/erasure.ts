import { z } from 'zod'

/** What of a person was erased. */
const scope = z.enum(['memories', 'credentials', 'invitation', 'account'])

/**
 * The certificate of an erasure: who asked for it, what was erased and how much, which data keys
 * were destroyed, and when. `delegated`: somebody else than the person asked.
 */
export const erasure = z.object({
  deletedBy: z.string().nullable(),
  delegated: z.boolean(),
  scope: z.array(scope),
  memories: z.int().min(0),
  credentials: z.int().min(0),
  keyIds: z.array(z.string()),
  destroyedAt: z.string(),
})

export type Erasure = z.infer<typeof erasure>

/**
 * The data key that texts of one kind about a person are sealed under. A name whose key was
 * destroyed cannot be used again: each erasure begins another `generation`. `inUse`: something was
 * sealed in this one.
 */
export type KeyUse = { generation: number; inUse: boolean }

export const unused: KeyUse = { generation: 0, inUse: false }

export const inUse = (key: KeyUse): KeyUse => (key.inUse ? key : { ...key, inUse: true })

export const afterErasure = ({ generation }: KeyUse): KeyUse => ({
  generation: generation + 1,
  inUse: false,
})

/** The erasure of what was sealed under one data key, which was destroyed before. */
export type Destroyed = Pick<Erasure, 'deletedBy' | 'delegated' | 'keyIds' | 'destroyedAt'> & {
  generation: number
}

/** Whether the key was destroyed that texts are sealed under now, not an earlier one. */
export const isDestroyed = (key: KeyUse, { generation }: Destroyed): boolean =>
  key.inUse && key.generation === generation

/** The certificate of the erasure under one key. */
export const ofKey = (
  what: Erasure['scope'][number],
  { generation: _, ...by }: Destroyed,
  count: Partial<Pick<Erasure, 'memories' | 'credentials'>> = {},
): Erasure => ({ ...by, scope: [what], memories: 0, credentials: 0, ...count })

const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0)

/** One certificate for several; undefined for none. The time is that of the last. */
export const together = (parts: readonly Erasure[]): Erasure | undefined => {
  const last = parts.at(-1)
  return (
    last && {
      deletedBy: last.deletedBy,
      delegated: last.delegated,
      destroyedAt: last.destroyedAt,
      scope: parts.flatMap(({ scope }) => scope),
      memories: sum(parts.map(({ memories }) => memories)),
      credentials: sum(parts.map(({ credentials }) => credentials)),
      keyIds: parts.flatMap(({ keyIds }) => keyIds),
    }
  )
}
