import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  component: lazyRouteComponent(() => import('./runs-screen.tsx'), 'RunsScreen'),
})

export const runsRoutes = [runsRoute] as const
