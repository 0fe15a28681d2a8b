import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'
import { runFilters } from '../runs/filters.ts'

export const runTabs = ['conversation', 'steps', 'charge', 'replay', 'json'] as const

const id = z.string().min(1).max(200).optional().catch(undefined)

/** The filters are those of the list that the run was opened from. */
const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$runId',
  validateSearch: runFilters.extend({
    tab: z.enum(runTabs).optional().catch(undefined),
    step: id,
    q: z.string().max(200).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./run-screen.tsx'), 'RunScreen'),
})

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/compare',
  validateSearch: z.object({ a: id, b: id }),
  component: lazyRouteComponent(() => import('./compare-screen.tsx'), 'CompareScreen'),
})

export const runRoutes = [compareRoute, runRoute] as const
