import { Page } from '../../components/page.tsx'

export const PeopleScreen = () => <Page title="People and keys" />
