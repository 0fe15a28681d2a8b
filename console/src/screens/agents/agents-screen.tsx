import { Page } from '../../components/page.tsx'

export const AgentsScreen = () => <Page title="Agents" />
