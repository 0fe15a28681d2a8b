import { Page } from '../../components/page.tsx'

export const ContentScreen = () => <Page title="Content" />
