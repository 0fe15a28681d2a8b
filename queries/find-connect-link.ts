import type { ConnectLinkView } from '../projections/connect-links.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import type { Secrets } from '../src/security/secrets.ts'

type Uses = {
  connectLinks: View<ConnectLinkView>
  hashLinkToken: Secrets['hashLinkToken']
  now(): Date
}

/**
 * The link of a token, while it is valid. Expired, revoked and unknown links answer alike.
 * @throws connect_link_not_found
 */
export const findConnectLink =
  ({ connectLinks, hashLinkToken, now }: Uses) =>
  async (token: string): Promise<ConnectLinkView> => {
    const link = await connectLinks.get(hashLinkToken(token))
    if (!link || link.incomplete || link.expires_at <= now().toISOString())
      throw refusal('connect_link_not_found')
    return link
  }
export type FindConnectLink = ReturnType<typeof findConnectLink>
