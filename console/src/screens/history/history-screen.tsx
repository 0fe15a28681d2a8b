import { Page } from '../../components/page.tsx'

export const HistoryScreen = () => <Page title="History" />
