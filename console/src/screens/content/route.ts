import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const contentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/content',
  component: lazyRouteComponent(() => import('./content-screen.tsx'), 'ContentScreen'),
})

export const contentRoutes = [contentRoute] as const
