/** Who looks at a session (docs/contract/sessions.md#ownership). */
export type Viewer = {
  /** The user acted for, else the key's backing user. */
  userId: string
  /** Set for an organization key without delegation: it sees the sessions made through it. */
  onlyKeyId: string | null
}

/** Whether a session is the viewer's; to anyone else it does not exist. */
export const isOwn = (viewer: Viewer, owner: { ownerId: string; keyId: string | null }): boolean =>
  owner.ownerId === viewer.userId && (!viewer.onlyKeyId || owner.keyId === viewer.onlyKeyId)
