import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents',
  component: lazyRouteComponent(() => import('./agents-screen.tsx'), 'AgentsScreen'),
})

const newAgentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/new',
  component: lazyRouteComponent(() => import('./new-agent-screen.tsx'), 'NewAgentScreen'),
})

const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/$agentId',
  validateSearch: z.object({
    tab: z.enum(['settings', 'history']).optional().catch(undefined),
    /** The position of the opened change. */
    change: z.coerce.number().int().optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./agent-screen.tsx'), 'AgentScreen'),
})

export const agentsRoutes = [agentsRoute, newAgentRoute, agentRoute] as const
