import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { rootRoute } from '../../root-route.tsx'

const user = z.string().optional().catch(undefined)

const contentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/content',
  validateSearch: z.object({
    type: z.enum(['image', 'video', 'audio', 'glb', 'other']).optional().catch(undefined),
    status: z.enum(['pending', 'processing', 'completed', 'failed']).optional().catch(undefined),
    page: z.coerce.number().int().min(2).optional().catch(undefined),
    user,
  }),
  component: lazyRouteComponent(() => import('./content-screen.tsx'), 'ContentScreen'),
})

const contentItemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/content/$contentId',
  validateSearch: z.object({ user }),
  component: lazyRouteComponent(() => import('./content-item-screen.tsx'), 'ContentItemScreen'),
})

export const contentRoutes = [contentRoute, contentItemRoute] as const
