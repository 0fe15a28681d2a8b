import { createRootRoute, Link } from '@tanstack/react-router'
import { Page } from './components/page.tsx'
import { EmptyState } from './components/states.tsx'
import { Shell } from './shell/shell.tsx'

const NotFound = () => (
  <Page title="Not found">
    <EmptyState
      icon="search"
      title="There is no such page"
      action={<Link to="/">Go to the overview</Link>}
    >
      The address may be incomplete, or what it shows has been deleted.
    </EmptyState>
  </Page>
)

/** The parent of all screens; each has its routes in its own folder. */
export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound })
