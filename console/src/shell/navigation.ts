import type { IconName } from '../components/icon.tsx'

export type Screen = {
  to:
    | '/'
    | '/runs'
    | '/playground'
    | '/agents'
    | '/knowledge'
    | '/content'
    | '/approvals'
    | '/people'
    | '/history'
    | '/feeds'
  label: string
  icon: IconName
  /** Any of these opens it. */
  scopes: readonly string[]
  /** After `g`. */
  key: string
}

type Group = { label: string; screens: readonly Screen[] }

/** The screens in the order of the sidebar. */
export const groups: readonly Group[] = [
  {
    label: 'Observe',
    screens: [
      { to: '/', label: 'Overview', icon: 'overview', scopes: ['admin:read'], key: 'o' },
      { to: '/runs', label: 'Runs', icon: 'runs', scopes: ['admin:read'], key: 'r' },
      {
        to: '/approvals',
        label: 'Approvals',
        icon: 'approvals',
        scopes: ['approvals:read'],
        key: 'v',
      },
    ],
  },
  {
    label: 'Build',
    screens: [
      {
        to: '/playground',
        label: 'Playground',
        icon: 'playground',
        scopes: ['orchestrator:invoke'],
        key: 'p',
      },
      {
        to: '/agents',
        label: 'Agents',
        icon: 'agents',
        scopes: ['admin:read', 'agents:list'],
        key: 'a',
      },
      { to: '/knowledge', label: 'Knowledge', icon: 'knowledge', scopes: ['rag:read'], key: 'k' },
      { to: '/content', label: 'Content', icon: 'content', scopes: ['content:read'], key: 'c' },
    ],
  },
  {
    label: 'Manage',
    screens: [
      { to: '/people', label: 'People and keys', icon: 'people', scopes: ['admin:read'], key: 'm' },
      { to: '/history', label: 'History', icon: 'history', scopes: ['admin:read'], key: 'h' },
      { to: '/feeds', label: 'Feeds', icon: 'feeds', scopes: ['admin:read'], key: 'f' },
    ],
  },
]

export type Can = (scope: string) => boolean

const isOpenTo = (can: Can) => (screen: Screen) => screen.scopes.some(can)

/** The groups with the screens that somebody with these scopes may open. */
export const groupsFor = (can: Can): readonly Group[] =>
  groups
    .map(({ label, screens }) => ({ label, screens: screens.filter(isOpenTo(can)) }))
    .filter(({ screens }) => screens.length > 0)

/** The same as one list. */
export const screensFor = (can: Can): readonly Screen[] =>
  groupsFor(can).flatMap(({ screens }) => screens)
