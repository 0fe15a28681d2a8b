import { Page } from '../../components/page.tsx'

export const PlaygroundScreen = () => <Page title="Playground" />
