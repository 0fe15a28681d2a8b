import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$runId',
  component: lazyRouteComponent(() => import('./run-screen.tsx'), 'RunScreen'),
})

export const runRoutes = [runRoute] as const
