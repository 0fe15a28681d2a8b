import type { Configuration } from 'openid-client'
import {
  type IdentityProvider,
  IdentityProviderUnavailable,
  type SignInChecks,
  SignInRefused,
} from '../../ports/identity-provider.ts'

type Options = { issuer: string; clientId: string; clientSecret: string | undefined }

/** How long the provider may take for each answer, in seconds. */
const timeout = 10
const scope = 'openid email profile'

const library = () => import('openid-client')

/** The provider's metadata, read at the first sign-in; after a failure it is read again. */
const discovery = ({ issuer, clientId, clientSecret }: Options) => {
  let discovered: Promise<Configuration> | undefined
  const discover = async (): Promise<Configuration> => {
    const { discovery, allowInsecureRequests } = await library()
    const server = new URL(issuer)
    const execute = server.protocol === 'http:' ? [allowInsecureRequests] : []
    try {
      return await discovery(server, clientId, clientSecret, undefined, { timeout, execute })
    } catch (cause) {
      throw new IdentityProviderUnavailable('The provider cannot be discovered', { cause })
    }
  }
  return (): Promise<Configuration> => {
    discovered ??= discover().catch((error) => {
      discovered = undefined
      throw error
    })
    return discovered
  }
}

/** Claims of the ID token; the address may be told only at the provider's userinfo endpoint. */
const claimsAt = async (config: Configuration, callback: URL, checks: SignInChecks) => {
  const { authorizationCodeGrant, fetchUserInfo } = await library()
  const tokens = await authorizationCodeGrant(config, callback, {
    pkceCodeVerifier: checks.verifier,
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (!claims) throw new SignInRefused('The provider sent no ID token')
  const { email } = claims
  const { userinfo_endpoint } = config.serverMetadata()
  if (email !== undefined || !userinfo_endpoint) return claims
  return { ...(await fetchUserInfo(config, tokens.access_token, claims.sub)), iss: claims.iss }
}

/** OpenID Connect by `openid-client`: the authorization code flow with PKCE, state and nonce. */
export const openIdProvider = (options: Options): IdentityProvider => {
  const configuration = discovery(options)
  return {
    async authorizationUrl({ redirectUri, state, nonce, verifier }) {
      const config = await configuration()
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library()
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return url.href
    },
    async identify(callback, checks) {
      const config = await configuration()
      try {
        const { iss, sub, email, email_verified } = await claimsAt(config, callback, checks)
        return {
          issuer: iss,
          subject: sub,
          email: typeof email === 'string' ? email : undefined,
          emailVerified: email_verified === true,
        }
      } catch (cause) {
        throw new SignInRefused('The provider did not confirm the sign-in', { cause })
      }
    },
  }
}
