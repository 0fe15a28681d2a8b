import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'
import { eventFilters } from './filters.ts'

const text = z.string().min(1).max(2_000).optional().catch(undefined)

const historyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/history',
  validateSearch: eventFilters.extend({
    tab: z.enum(['events', 'states', 'differences', 'export']).optional().catch(undefined),
    /** Continues a list after this position or document. */
    after: text,
    view: text,
    /** Times or positions of past states. */
    as_of: text,
    since: text,
    until: text,
  }),
  component: lazyRouteComponent(() => import('./history-screen.tsx'), 'HistoryScreen'),
})

export const historyRoutes = [historyRoute] as const
