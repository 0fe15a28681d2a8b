import { Page } from '../../components/page.tsx'
export const ChargeScreen = () => <Page title="Charge" />
