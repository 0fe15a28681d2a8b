import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const peopleRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/people',
  component: lazyRouteComponent(() => import('./people-screen.tsx'), 'PeopleScreen'),
})

export const peopleRoutes = [peopleRoute] as const
