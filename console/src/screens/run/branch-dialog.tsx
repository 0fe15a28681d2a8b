import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { messageOf } from '../../api/problem.ts'
import { Button, buttonClass } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import type { RunSummary } from '../runs/runs-queries.ts'
import type { Message } from './run-queries.ts'

export type BranchKind = 'fork' | 'regenerate'

type Branch = { sessionId: string; runId?: string }

type BranchOf = {
  kind: BranchKind
  sessionId: string
  messageId: string
  onBehalfOf: string | undefined
}

const branch = async ({ kind, sessionId, messageId, onBehalfOf }: BranchOf): Promise<Branch> => {
  const actor = onBehalfOf ? { on_behalf_of: onBehalfOf } : {}
  if (kind === 'fork') {
    const { session_id } = await answerOf(
      api.POST('/api/external/sessions/{session_id}/fork', {
        params: { path: { session_id: sessionId } },
        body: { after: messageId, ...actor },
      }),
    )
    return { sessionId: session_id }
  }
  const answer = await answerOf(
    api.POST('/api/external/sessions/{session_id}/messages/{event_id}/regenerate', {
      params: { path: { session_id: sessionId, event_id: messageId } },
      body: actor,
    }),
  )
  if (typeof answer === 'string') throw new Error('The server answered in another format')
  const { id, session_id } = answer
  return { sessionId: session_id, runId: id.replace(/^chatcmpl-/, '') }
}

const words = {
  fork: {
    title: 'Fork the conversation?',
    action: 'Fork',
    text: 'A new session gets copies of the messages up to this one. The original stays as it is. No model is called, and nothing is charged.',
    done: 'The fork is ready.',
  },
  regenerate: {
    title: 'Regenerate the answer?',
    action: 'Regenerate',
    text: 'The message of this turn is sent again in a fork of the session, with the agents’ present settings. The original stays as it is. The new run is charged like any other.',
    done: 'The new answer is ready.',
  },
} as const

type BranchDialogProps = {
  kind: BranchKind
  message: Message
  run: RunSummary
  onBehalfOf: string | undefined
  onClose: () => void
}

/** Asks before a conversation is forked or an answer made again, and leads to the outcome. */
export const BranchDialog = ({ kind, message, run, onBehalfOf, onClose }: BranchDialogProps) => {
  const { title, action, text, done } = words[kind]
  const { data, error, isPending, mutate } = useMutation({ mutationFn: branch })
  const start = () =>
    mutate({ kind, sessionId: run.session_id, messageId: message.event_id, onBehalfOf })
  const runId = data?.runId
  return (
    <Dialog
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose()
      }}
      title={data ? done : title}
      actions={
        data ? (
          <>
            <Button onPress={onClose}>Close</Button>
            <a
              className={buttonClass(runId ? 'default' : 'primary')}
              href={`/console/playground?session=${encodeURIComponent(data.sessionId)}`}
            >
              Open in the playground
            </a>
            {runId && (
              <>
                <Link
                  to="/runs/compare"
                  search={{ a: run.run_id, b: runId }}
                  className={buttonClass('default')}
                >
                  Compare
                </Link>
                <Link
                  to="/runs/$runId"
                  params={{ runId }}
                  className={buttonClass('primary')}
                  onClick={onClose}
                >
                  Open the new run
                </Link>
              </>
            )}
          </>
        ) : (
          <>
            <Button onPress={onClose}>Cancel</Button>
            <Button kind="primary" isDisabled={isPending} onPress={start}>
              {action}
            </Button>
          </>
        )
      }
    >
      {data ? (
        <p>
          Session <code>{data.sessionId}</code>
        </p>
      ) : (
        <p className="soft">{text}</p>
      )}
      {error && (
        <p role="alert" className="bad">
          {messageOf(error)}
        </p>
      )}
    </Dialog>
  )
}
