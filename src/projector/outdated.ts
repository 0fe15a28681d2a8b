import type { AnyProjection } from '../../projections/projection.ts'
import type { Views } from '../ports/views.ts'
import type { Projecting } from './projector.ts'
import type { RebuildJobs } from './rebuild-jobs.ts'

type Uses = {
  views: Pick<Views, 'version'>
  projections: readonly Pick<AnyProjection, 'name' | 'version'>[]
  projecting: Pick<Projecting, 'holds'>
  rebuilding: Pick<RebuildJobs, 'begin'>
}

/** No stored read model is older. */
const firstVersion = 1

/**
 * Begins to rebuild the read models that an earlier version of their projections has folded, where
 * this process projects. Queries see the old documents until the new ones are swapped in.
 */
export const rebuildOutdated =
  ({ views, projections, projecting, rebuilding }: Uses) =>
  async (): Promise<void> => {
    for (const { name, version = firstVersion } of projections) {
      if (version === firstVersion || !projecting.holds(name)) continue
      if ((await views.version(name)) < version) rebuilding.begin(name)
    }
  }
