import { deferred } from '../../src/support/deferred.ts'
import type { Reply } from './provider-double.ts'

/** An answer that stands still after its first two words until it is let go. */
export const held = (more: Reply = {}) => {
  const { promise, resolve } = deferred<undefined>()
  const text = 'one two three four.'
  const reply: Reply = { text, hold: { after: 3, until: promise }, ...more }
  return { text, reply, go: () => resolve(undefined) }
}
