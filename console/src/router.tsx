import { createRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { Page } from './components/page.tsx'
import { ErrorState, Skeleton } from './components/states.tsx'
import { rootRoute } from './root-route.tsx'
import { agentsRoutes } from './screens/agents/route.ts'
import { approvalsRoutes } from './screens/approvals/route.ts'
import { contentRoutes } from './screens/content/route.ts'
import { feedsRoutes } from './screens/feeds/route.ts'
import { historyRoutes } from './screens/history/route.ts'
import { knowledgeRoutes } from './screens/knowledge/route.ts'
import { overviewRoutes } from './screens/overview/route.ts'
import { peopleRoutes } from './screens/people/route.ts'
import { playgroundRoutes } from './screens/playground/route.ts'
import { runRoutes } from './screens/run/route.ts'
import { runsRoutes } from './screens/runs/route.ts'

const Failed = ({ error, reset }: ErrorComponentProps) => (
  <Page title="This screen failed">
    <ErrorState error={error} title="This screen could not be shown" onRetry={reset} />
  </Page>
)

const Pending = () => (
  <Page title="Loading">
    <Skeleton lines={6} height="1.5rem" />
  </Page>
)

/** Values of the address are texts (`?range=7`). A schema parses numbers: `z.coerce.number()`. */
const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search))

const stringifySearch = (search: Record<string, unknown>): string => {
  const entries = Object.entries(search).filter(
    ([, value]) => value !== undefined && value !== null,
  )
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...overviewRoutes,
    ...runsRoutes,
    ...runRoutes,
    ...playgroundRoutes,
    ...agentsRoutes,
    ...knowledgeRoutes,
    ...contentRoutes,
    ...approvalsRoutes,
    ...peopleRoutes,
    ...historyRoutes,
    ...feedsRoutes,
  ]),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: Failed,
  defaultPendingComponent: Pending,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
