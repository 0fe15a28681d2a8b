import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'

const knowledgeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/knowledge',
  component: lazyRouteComponent(() => import('./knowledge-screen.tsx'), 'KnowledgeScreen'),
})

export const knowledgeRoutes = [knowledgeRoute] as const
