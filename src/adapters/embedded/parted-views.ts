import type { Commit, Views } from '../../ports/views.ts'

type Uses = {
  views: Views
  /** In an environment of their own. */
  others: Views
  /** Whether a read model is among the others. */
  isOther(view: string): boolean
}

/** Read models in two environments as one store. Each commit is of one environment. */
export const partedViews = ({ views, others, isOther }: Uses): Views => {
  const of = (view: string) => (isOther(view) ? others : views)
  return {
    view: (spec) => of(spec.name).view(spec),
    checkpoint: (view, ...more) => of(view).checkpoint(view, ...more),
    load: (view, ...more) => of(view).load(view, ...more),
    idsOf: (view, ...more) => of(view).idsOf(view, ...more),
    async commit(commits, ...more) {
      const parts: [Views, Commit[]][] = [
        [views, commits.filter(({ view }) => !isOther(view))],
        [others, commits.filter(({ view }) => isOther(view))],
      ]
      for (const [store, part] of parts) if (part.length > 0) await store.commit(part, ...more)
    },
    version: (view) => of(view).version(view),
    beginRebuild: (view) => of(view).beginRebuild(view),
    swap: (view) => of(view).swap(view),
    async close() {
      await others.close()
      await views.close()
    },
  }
}
