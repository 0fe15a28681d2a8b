/** The caller of a request, as found by its key: all later checks use it. */
export type Access = {
  kind: 'organization' | 'user' | 'platform'
  /** Null for the platform key. */
  keyId: string | null
  /** The organization the request works in; `platform` for the platform key. */
  organizationId: string
  /** The key's backing user; null for the platform key. */
  userId: string | null
  /** The backing user's role in the organization; null when not an active member. */
  role: Role | null
  /** What it may do in this organization: less than the key's scopes where the role allows less. */
  scopes: ReadonlySet<string>
  /** The key's scopes whatever the role: for what concerns only its user, in no organization. */
  keyScopes: ReadonlySet<string>
  /** The key's own limits. */
  limits: { minute: number; hour: number }
  /** The backing user's plan. */
  plan: string | null
  /** Set where the caller signed in to the console: the request has a cookie, and no key. */
  consoleSession?: ConsoleSession
}

/** `expiresAt`: ISO 8601. */
export type ConsoleSession = { tokenHash: string; expiresAt: string }

/** The key or, without one, the person or the platform: whoever repeats a request. */
export const callerOf = ({ keyId, userId, kind }: Access): string => keyId ?? userId ?? kind

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER'

/**
 * The access of a key, or else of a console session by its token, in the organization that the
 * header names. @throws Refusal
 */
export type FindAccess = (
  apiKey: string | undefined,
  organizationHeader: string | undefined,
  consoleToken?: string,
) => Access | Promise<Access>
