import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const playgroundRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground',
  component: lazyRouteComponent(() => import('./playground-screen.tsx'), 'PlaygroundScreen'),
})

export const playgroundRoutes = [playgroundRoute] as const
