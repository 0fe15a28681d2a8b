import { Page } from '../../components/page.tsx'

export const RunScreen = () => <Page title="Run" />
