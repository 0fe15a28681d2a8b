import { Page } from '../../components/page.tsx'

export const CompareScreen = () => <Page title="Compare runs" />
