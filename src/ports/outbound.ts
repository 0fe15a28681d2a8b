/** The destination is not one that may be asked; says why, and nothing of what was to be sent. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused'
}

/**
 * HTTP to addresses that users and other people's servers name. Only https, only to public
 * addresses; hosts that the operator trusts are free of both. A redirect is answered, never
 * followed. Rejects with OutboundRefused, or with what went wrong on the way, which may hold what
 * was to be sent: never log or show it.
 */
export type Outbound = { fetch(url: string | URL, init?: RequestInit): Promise<Response> }
