import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { ForbiddenState } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useSession } from '../../session/session.ts'
import { EventList } from './event-list.tsx'
import { ExportTab } from './export-tab.tsx'
import { Differences, PastStates } from './past-states.tsx'
import { ProofPanel } from './proof-panel.tsx'

const route = getRouteApi('/history')

const description =
  'Every change is an event that is never altered or deleted. This browser verifies that itself.'

/** The history of the organization: events, past states, differences, export and proof. */
export const HistoryScreen = () => {
  const { can, isManager, organizationId } = useSession()
  const { tab = 'events', view } = route.useSearch()
  const navigate = route.useNavigate()
  if (!can('admin:read') || !isManager)
    return (
      <Page title="History">
        <ForbiddenState
          what="the history"
          message="It needs the scope admin:read and the role of an owner or admin."
        />
      </Page>
    )
  return (
    <Page title="History" description={description}>
      <ProofPanel key={organizationId} />
      <Tabs
        label="History"
        selected={tab}
        onSelect={(id) => void navigate({ search: { tab: id, view } })}
        tabs={[
          { id: 'events', label: 'Events', content: <EventList /> },
          { id: 'states', label: 'Past states', content: <PastStates /> },
          { id: 'differences', label: 'Differences', content: <Differences /> },
          { id: 'export', label: 'Export', content: <ExportTab /> },
        ]}
      />
    </Page>
  )
}
