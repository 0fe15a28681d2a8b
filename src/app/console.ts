import { fileURLToPath } from 'node:url'
import { findIdentity } from '../../queries/find-identity.ts'
import { getMember } from '../../queries/get-member.ts'
import { openIdProvider } from '../adapters/openid/identity-provider.ts'
import type { Config } from '../config.ts'
import { consoleCookies } from '../http/checks/console-cookie.ts'
import { requireHttps } from '../http/checks/https.ts'
import { signInLimit } from '../http/checks/sign-in-limit.ts'
import { consoleRoutes } from '../http/routes/console.ts'
import { consoleOpenIdRoutes } from '../http/routes/console-openid.ts'
import { consoleSessionRoutes } from '../http/routes/console-session.ts'
import { consoleWelcomeRoutes } from '../http/routes/console-welcome.ts'
import type { Parts } from './parts.ts'

const builtConsole = fileURLToPath(new URL('../../console', import.meta.url))

type OpenIdConfig = Pick<Config, 'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET'>

const providerOf = ({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: OpenIdConfig) =>
  OIDC_ISSUER && OIDC_CLIENT_ID
    ? openIdProvider({
        issuer: OIDC_ISSUER,
        clientId: OIDC_CLIENT_ID,
        clientSecret: OIDC_CLIENT_SECRET,
      })
    : undefined

/** The routes below /console: its pages, and how people sign in. */
export const consolePart = ({ host, writing, reading, access }: Parts) => {
  const { config, options, clock } = host
  const { commands, secrets, vault } = writing
  const { routeCommands, views, writes } = reading
  const { findAccess, admit, ownPage } = access
  const { identities, members, users } = views
  const provider = providerOf(config)
  const isPublicSecure = config.PUBLIC_URL?.startsWith('https:') === true
  const shared = {
    ownPage,
    cookies: consoleCookies(({ protocol }) => protocol === 'https' || isPublicSecure),
    limitSignIns: signInLimit(clock),
    requireHttps: requireHttps(config.REQUIRE_HTTPS),
    clock,
  }
  return [
    consoleRoutes({
      folder: options.consoleFolder ?? builtConsole,
      requireHttps: shared.requireHttps,
    }),
    consoleSessionRoutes({
      ...shared,
      startConsoleSession: routeCommands.startConsoleSession,
      endConsoleSession: routeCommands.endConsoleSession,
      endConsoleSessions: routeCommands.endConsoleSessions,
      getMember: getMember({ members, users, open: vault.open }),
      findAccess,
      admit,
      csrfTokenOf: secrets.csrfTokenOf,
      hashApiKey: secrets.hashApiKey,
      offersOpenId: provider !== undefined,
    }),
    consoleWelcomeRoutes({
      ...shared,
      checkWelcomeLink: commands.checkWelcomeLink,
      redeemWelcomeLink: routeCommands.redeemWelcomeLink,
    }),
    ...(provider
      ? [
          consoleOpenIdRoutes({
            ...shared,
            provider,
            recordLogin: routeCommands.recordLogin,
            startConsoleSession: routeCommands.startConsoleSession,
            findIdentity: writes.query(
              findIdentity({ identities, hashSubject: secrets.hashSubject }),
            ),
            secrets,
          }),
        ]
      : []),
  ]
}
