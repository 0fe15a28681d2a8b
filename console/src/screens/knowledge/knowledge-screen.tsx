import { Page } from '../../components/page.tsx'

export const KnowledgeScreen = () => <Page title="Knowledge" />
