import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { messageOf } from '../../api/problem.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Loading, Skeleton } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import styles from './agents.module.css'
import type { BodyOf } from './body-of.ts'

const draftPath = '/api/admin/organizations/{organization_id}/agent-drafts/completions'
type DraftBody = BodyOf<typeof draftPath, 'post'>
type Completion = Exclude<Answer<typeof draftPath, 'post'>, string>

/** What a draft consists of: the agent that it changes, if there is one, and settings. */
export type TriedDraft = Pick<DraftBody, 'agent_id' | 'agent'>

type Exchange = { message: string; completion: Completion }

const runIdOf = ({ id }: Completion): string => id.replace('agentcmpl-', '')

const ExchangeView = ({ exchange: { message, completion } }: { exchange: Exchange }) => (
  <li className={styles.exchange}>
    <p className={styles.question} dir="auto">
      {message}
    </p>
    <Markdown text={completion.response} />
    {completion.pending_approvals && (
      <p className="soft">
        Waits for a decision. <Link to="/approvals">Approvals</Link>
      </p>
    )}
    <p className="soft small">
      <Link
        to="/runs/$runId"
        params={{ runId: runIdOf(completion) }}
        search={{ session_id: completion.session_id }}
      >
        Run
      </Link>
    </p>
  </li>
)

type TryDialogProps = { draft: TriedDraft; onClose: () => void }

/** Asks an agent with settings that are not saved; each message continues the conversation. */
export const TryDialog = ({ draft, onClose }: TryDialogProps) => {
  const { organizationId } = useSession()
  const [text, setText] = useState('')
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([])
  const sessionId = exchanges.at(-1)?.completion.session_id
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: (message: string) =>
      answerOf(
        api.POST(draftPath, {
          params: { path: { organization_id: organizationId } },
          body: { ...draft, message, ...(sessionId && { session_id: sessionId }) } as DraftBody,
        }),
      ),
    onSuccess: (completion: Completion, message) => {
      setExchanges([...exchanges, { message, completion }])
      setText('')
    },
  })
  const message = text.trim()
  const list = useRef<HTMLOListElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows with these
  useEffect(() => {
    list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' })
  }, [exchanges, isPending])
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Try the draft"
      wide
      actions={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button
            kind="primary"
            isDisabled={message === '' || isPending}
            onPress={() => mutate(message)}
          >
            Send
          </Button>
        </>
      }
    >
      <p className="soft">
        The agent answers with the settings of the form. They are not saved. The run is charged and
        recorded.
      </p>
      <ol ref={list} className={styles.exchanges} aria-label="Conversation" aria-live="polite">
        {exchanges.map((exchange) => (
          <ExchangeView key={exchange.completion.id} exchange={exchange} />
        ))}
        {isPending && (
          <li className={styles.exchange}>
            <p className={styles.question} dir="auto">
              {variables}
            </p>
            <Loading>
              <Skeleton height="3rem" />
            </Loading>
          </li>
        )}
      </ol>
      {error && (
        <p role="alert" className="bad">
          {messageOf(error)}
        </p>
      )}
      <TextField label="Message" rows={3} autoFocus value={text} onChange={setText} />
    </Dialog>
  )
}
