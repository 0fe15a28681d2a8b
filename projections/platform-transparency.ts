import { platformId } from '../src/domain/event.ts'
import { treeProjection } from './transparency.ts'

/**
 * The tree of the platform's own history. A read model of its own: where the organizations' trees are
 * folded already, this one still begins with the first event of the log, and leaves them alone.
 */
export const platformTransparency = treeProjection(
  'platform_transparency',
  (owner) => owner === platformId,
)
