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

/**
 * Begins to rebuild the read models that an earlier version of their projections has folded, where
 * this process projects. Queries see the old documents until the new ones are swapped in.
 */
export const rebuildOutdated =
  ({ views, projections, projecting, rebuilding }: Uses) =>
  async (): Promise<void> => {
    for (const { name, version = 1 } of projections) {
      const isOutdated = (await views.version(name)) < version
      if (isOutdated && projecting.holds(name)) rebuilding.begin(name)
    }
  }
