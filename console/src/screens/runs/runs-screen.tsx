import { Page } from '../../components/page.tsx'

export const RunsScreen = () => <Page title="Runs" />
