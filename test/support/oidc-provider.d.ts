/** What tests use of the package, which has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }
  type Context = {
    oidc: {
      client: { clientId: string }
      session: { accountId: string }
      provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant }
    }
  }
  type Account = { accountId: string; claims(): Promise<Record<string, unknown>> }

  // biome-ignore lint/style/noDefaultExport: the package has one
  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: readonly Record<string, unknown>[]
        claims: Record<string, readonly string[]>
        cookies: { keys: readonly string[] }
        features: { devInteractions: { enabled: boolean } }
        interactions: { url(context: Context, interaction: { uid: string }): string }
        findAccount(context: Context, id: string): Promise<Account>
        loadExistingGrant(context: Context): Promise<Grant>
      },
    )
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string } },
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
  }
}
