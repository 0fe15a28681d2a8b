import { Page } from '../../components/page.tsx'

export const ApprovalsScreen = () => <Page title="Approvals" />
