/** What binds a sign-in to the browser that began it. */
export type SignInChecks = {
  /** Our address that the provider leads back to. */
  redirectUri: string
  state: string
  nonce: string
  /** Proves that whoever exchanges the code asked for it (PKCE). */
  verifier: string
}

/** Who signed in, as the provider vouches for it. `subject` is the provider's own id. */
export type VerifiedIdentity = {
  issuer: string
  subject: string
  email: string | undefined
  emailVerified: boolean
}

/** The provider cannot be reached, or is not one. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = 'IdentityProviderUnavailable'
}

/** The provider, or what came back from it, does not confirm the sign-in. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
}

/** An OpenID Connect provider. @throws IdentityProviderUnavailable */
export type IdentityProvider = {
  /** Where the person signs in. */
  authorizationUrl(checks: SignInChecks): Promise<string>
  /** Who came back: `callback` is the whole address. @throws SignInRefused */
  identify(callback: URL, checks: SignInChecks): Promise<VerifiedIdentity>
}
