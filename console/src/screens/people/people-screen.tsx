import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { ForbiddenState } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useSession } from '../../session/session.ts'
import { CreditsTab } from './credits-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { MembersTab } from './members-tab.tsx'
import { UsersTab } from './users-tab.tsx'

const route = getRouteApi('/people')

/** Who and what has access, and what it costs. */
export const PeopleScreen = () => {
  const { can, isManager } = useSession()
  const { tab = 'members' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page title="People and keys">
      {can('admin:read') && isManager ? (
        <Tabs
          label="People and keys"
          selected={tab}
          onSelect={(id) => void navigate({ search: { tab: id } })}
          tabs={[
            { id: 'members', label: 'Members', content: <MembersTab /> },
            { id: 'users', label: 'Provisioned users', content: <UsersTab /> },
            { id: 'keys', label: 'API keys', content: <KeysTab /> },
            { id: 'credits', label: 'Credits', content: <CreditsTab /> },
          ]}
        />
      ) : (
        <ForbiddenState
          what="people and keys"
          message="It needs the scope admin:read and the role of an owner or admin."
        />
      )}
    </Page>
  )
}
