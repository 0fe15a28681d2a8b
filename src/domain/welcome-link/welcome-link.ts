import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type WelcomeLinkEvent, welcomeLinkEvents } from './events.ts'

/** Lifetime of a link (docs/contract/limits.md#times). */
export const welcomeLinkMs = 60 * 60_000

type Created = WelcomeLinkEvent<'WelcomeLinkCreated'>['data']

/** `of` is whom the link signs in, with which key. */
export type WelcomeLink = { status: 'none' | 'used' } | { status: 'open'; of: Created }

export const welcomeLink: Aggregate<WelcomeLink, typeof welcomeLinkEvents> = {
  category: 'welcome',
  events: welcomeLinkEvents,
  initial: { status: 'none' },
  evolve: {
    WelcomeLinkCreated: (_, of) => ({ status: 'open', of }),
    WelcomeLinkUsed: () => ({ status: 'used' }),
  },
}

/** `hash` is the keyed hash of the token. */
export const welcomeLinkStream = (hash: string) => platformStreamOf(welcomeLink, hash)

export const decideCreateWelcomeLink =
  (data: Created) =>
  ({ status }: WelcomeLink): WelcomeLinkEvent[] =>
    status === 'none' ? [{ type: 'WelcomeLinkCreated', data }] : []

/** Whom a link signs in. `at`: ISO 8601. @throws welcome_link_not_found */
export const requireWelcomeLink = (link: WelcomeLink, at: string): Created => {
  if (link.status === 'open' && link.of.expiresAt > at) return link.of
  throw refusal('welcome_link_not_found')
}

/** @throws welcome_link_not_found */
export const decideRedeemWelcomeLink =
  (at: string) =>
  (link: WelcomeLink): WelcomeLinkEvent[] => {
    requireWelcomeLink(link, at)
    return [{ type: 'WelcomeLinkUsed', data: {} }]
  }
