import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const approvalsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  component: lazyRouteComponent(() => import('./approvals-screen.tsx'), 'ApprovalsScreen'),
})

export const approvalsRoutes = [approvalsRoute] as const
