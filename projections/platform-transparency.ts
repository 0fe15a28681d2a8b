import { platformId } from '../src/domain/event.ts'
import { treeProjection } from './transparency.ts'

/**
 * The tree of the platform's own history. It is a read model of its own, so that it is folded from
 * the first event even where the organizations' trees are already folded.
 */
export const platformTransparency = treeProjection(
  'platform_transparency',
  (owner) => owner === platformId,
)
