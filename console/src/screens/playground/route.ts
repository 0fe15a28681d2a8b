import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { languages } from '../../api/as-code.ts'
import { rootRoute } from '../../root-route.tsx'

/** As the API takes them. */
const sessionId = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/)

const playgroundRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground',
  validateSearch: z.object({
    session: sessionId.optional().catch(undefined),
    /** The agent that messages are sent to; the orchestrator without one. */
    agent: z.uuid().optional().catch(undefined),
    /** The language of the open dialog with code. */
    code: z.enum(languages).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./playground-screen.tsx'), 'PlaygroundScreen'),
})

export const playgroundRoutes = [playgroundRoute] as const
