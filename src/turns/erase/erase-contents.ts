import type { EraseContentCommand } from '../../../commands/erase-content.ts'
import type { ContentView } from '../../../projections/contents.ts'
import { findAll } from '../../../queries/find-all.ts'
import type { Position } from '../../domain/event.ts'
import type { Call } from '../../ports/call.ts'
import type { View, WaitForPosition } from '../../ports/views.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import { sessionKey } from '../../security/vault.ts'

type Uses = {
  contents: View<ContentView>
  eraseContent: EraseContentCommand
  blobs: SealedBlobs
  waitForPosition: WaitForPosition
  /** The last position of the log. */
  head(): Promise<Position>
}

/**
 * Erases the content that was generated in a session, with its files. Called when the session's key
 * is destroyed: nothing more is requested then.
 */
export const eraseContents =
  ({ contents, eraseContent, blobs, waitForPosition, head }: Uses) =>
  async (sessionId: string, call: Call): Promise<void> => {
    const { organizationId } = call
    await waitForPosition(await head())
    const files = blobs.under(sessionKey(organizationId, sessionId))
    const find = { index: 'by_session', equals: [organizationId, sessionId] }
    for (const { id } of await findAll(contents, find)) {
      const { hash } = await eraseContent({ contentId: id, sessionId }, call)
      if (hash) await files.remove(hash)
    }
  }
export type EraseContents = ReturnType<typeof eraseContents>
