import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const text = z.string().min(1).max(320).optional().catch(undefined)

const peopleRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/people',
  validateSearch: z.object({
    tab: z.enum(['members', 'users', 'keys', 'credits']).optional().catch(undefined),
    page: z.coerce.number().int().min(1).max(100_000).optional().catch(undefined),
    email: text,
    range: z.enum(['7', '30', '90']).optional().catch(undefined),
    by: z.enum(['day', 'agent_id', 'model', 'user_id']).optional().catch(undefined),
    day: z.iso.date().optional().catch(undefined),
    agent_id: text,
    model: text,
    user_id: text,
    cursor: text,
  }),
  component: lazyRouteComponent(() => import('./people-screen.tsx'), 'PeopleScreen'),
})

const chargeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/charges/$runId',
  component: lazyRouteComponent(() => import('./charge-screen.tsx'), 'ChargeScreen'),
})

export const peopleRoutes = [peopleRoute, chargeRoute] as const
