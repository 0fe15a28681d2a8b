import { Navigate } from '@tanstack/react-router'
import { Page } from '../../components/page.tsx'
import { ForbiddenState } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { screensFor } from '../../shell/navigation.ts'

export const OverviewScreen = () => {
  const { can } = useSession()
  if (can('admin:read')) return <Page title="Overview" />
  const [first] = screensFor(can)
  return first ? <Navigate to={first.to} replace /> : <ForbiddenState scope="admin:read" />
}
