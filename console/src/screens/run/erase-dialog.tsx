import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { notify } from '../../components/messages.tsx'
import { shortId } from '../../components/short-id.ts'

type EraseDialogProps = { sessionId: string; userId: string; onClose: () => void }

/** Asks before a conversation of a user is erased for good. */
export const EraseDialog = ({ sessionId, userId, onClose }: EraseDialogProps) => {
  const client = useQueryClient()
  const erase = async () => {
    await api.DELETE('/api/external/management/users/{user_id}/sessions/{session_id}', {
      params: { path: { user_id: userId, session_id: sessionId } },
    })
    notify('Conversation erased')
    await Promise.all([
      client.resetQueries({ queryKey: ['run-place', sessionId] }),
      client.resetQueries({ queryKey: ['run-messages', sessionId] }),
    ])
  }
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Erase the conversation ${shortId(sessionId)}?`}
      action="Erase"
      typed={shortId(sessionId)}
      onConfirm={erase}
    >
      All messages of the session, and what was generated in it, are erased everywhere. Its runs
      keep their times and charges. This cannot be undone.
    </ConfirmDialog>
  )
}
