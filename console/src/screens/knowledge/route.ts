import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const knowledgeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/knowledge',
  component: lazyRouteComponent(() => import('./knowledge-screen.tsx'), 'KnowledgeScreen'),
})

const text = z.string().optional().catch(undefined)

const datastoreRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/knowledge/$datastoreId',
  validateSearch: z.object({
    tab: z.enum(['search']).optional().catch(undefined),
    status: z
      .enum(['processing', 'pending', 'indexing', 'completed', 'failed'])
      .optional()
      .catch(undefined),
    page: z.coerce.number().int().min(2).optional().catch(undefined),
    upload: text,
    q: text,
  }),
  component: lazyRouteComponent(() => import('./datastore-screen.tsx'), 'DatastoreScreen'),
})

export const knowledgeRoutes = [knowledgeRoute, datastoreRoute] as const
