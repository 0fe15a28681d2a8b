import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { memberNamesQuery } from '../../api/members.ts'
import { ApiError } from '../../api/problem.ts'
import { Count, Credits, Duration } from '../../components/amounts.tsx'
import { Button } from '../../components/button.tsx'
import {
  EmptyState,
  FailedState,
  ForbiddenState,
  Loading,
  Skeleton,
} from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { type RunSummary, sessionRunsQuery } from '../runs/runs-queries.ts'
import { BranchDialog, type BranchKind } from './branch-dialog.tsx'
import { MessageView } from './message-view.tsx'
import styles from './run.module.css'
import {
  conversationQuery,
  isOpen,
  type Message,
  messagesQuery,
  type Conversation as Place,
} from './run-queries.ts'
import { turnsOf } from './turns.ts'
import { useHighlights } from './use-highlights.ts'

const LoadingMessages = () => (
  <Loading className={styles.conversation}>
    <Skeleton height="5rem" />
    <Skeleton height="9rem" />
  </Loading>
)

const TurnFacts = ({ run, isThis }: { run: RunSummary; isThis: boolean }) => (
  <p className={styles.turnFacts}>
    {isThis ? (
      <strong>This run</strong>
    ) : (
      <Link
        to="/runs/$runId"
        params={{ runId: run.run_id }}
        search={{ session_id: run.session_id }}
      >
        Run
      </Link>
    )}
    <Status status={run.status} />
    <Duration ms={run.duration_ms} />
    <span>
      <Count of={run.prompt_tokens + run.completion_tokens} /> tokens
    </span>
    <span>
      <Credits amount={run.charge} /> credits
    </span>
  </p>
)

type ConversationProps = {
  run: RunSummary
  /** To be marked wherever it is said. */
  words: string
  /** Absent where a run is only compared. */
  onReplay?: () => void
}

type Branch = { kind: BranchKind; message: Message }

const Turns = ({ run, words, onReplay, place }: ConversationProps & { place: Place }) => {
  const { organizationId, can } = useSession()
  const query = useInfiniteQuery({
    ...messagesQuery(run.session_id, place),
    refetchInterval: isOpen(run) ? 2_000 : false,
  })
  const { data: names } = useQuery(memberNamesQuery(organizationId))
  const { data: list } = useQuery(sessionRunsQuery(organizationId, run.session_id))
  const [isEarlier, setEarlier] = useState(false)
  const [isLater, setLater] = useState(false)
  const [branch, setBranch] = useState<Branch>()
  const ref = useRef<HTMLDivElement>(null)
  useHighlights(ref, words)
  const { refetch } = query
  const former = useRef(run.status)
  useEffect(() => {
    if (former.current === run.status) return
    former.current = run.status
    void refetch()
  }, [run.status, refetch])
  const turns = useMemo(
    () => turnsOf(query.data?.pages.flatMap(({ messages }) => messages) ?? []),
    [query.data],
  )
  if (!query.data) {
    if (query.error) return <FailedState error={query.error} onRetry={() => void query.refetch()} />
    return <LoadingMessages />
  }
  const start = Date.parse(run.started_at)
  const at = turns.findIndex(([first]) => first && Date.parse(first.created_at) >= start)
  const current = at === -1 ? turns.length : at
  const first = isEarlier ? 0 : current
  const last = isLater ? turns.length : current + 1
  const countOf = (part: readonly (readonly Message[])[]) =>
    part.reduce((sum, messages) => sum + messages.length, 0)
  const before = countOf(turns.slice(0, first))
  const after = countOf(turns.slice(last))
  const runAt = new Map(list?.runs.map((each) => [Date.parse(each.started_at), each]))
  const userName = (run.user_id && names?.get(run.user_id)) || 'User'
  const canBranch = can('orchestrator:invoke') && can('sessions:messages')
  const actionsOf = (message: Message) => {
    if (!canBranch) return []
    const ask = (kind: BranchKind) => () => setBranch({ kind, message })
    const fork = {
      id: 'fork',
      label: 'Fork after this message…',
      icon: 'external' as const,
      onAction: ask('fork'),
    }
    if (message.event_type === 'tool_message') return [fork]
    return [
      fork,
      {
        id: 'regenerate',
        label: 'Regenerate…',
        icon: 'refresh' as const,
        onAction: ask('regenerate'),
      },
      ...(onReplay
        ? [
            {
              id: 'replay',
              label: 'Replay with changed instruction',
              icon: 'history' as const,
              onAction: onReplay,
            },
          ]
        : []),
    ]
  }
  if (turns.length === 0)
    return (
      <EmptyState icon="playground" title="No messages">
        The messages of this conversation are not stored, or were erased.
      </EmptyState>
    )
  const showEarlier = () => {
    setEarlier(true)
    if (isEarlier) void query.fetchPreviousPage()
  }
  const showLater = () => {
    setLater(true)
    if (isLater) void query.fetchNextPage()
  }
  return (
    <div ref={ref} className={styles.conversation}>
      {(before > 0 || query.hasPreviousPage) && (
        <div className={styles.more}>
          <Button kind="quiet" onPress={showEarlier} isDisabled={query.isFetchingPreviousPage}>
            {isEarlier || before === 0
              ? 'Show earlier messages'
              : `Show ${formatNumber(before)}${query.hasPreviousPage ? ' or more' : ''} earlier ${before === 1 ? 'message' : 'messages'}`}
          </Button>
        </div>
      )}
      {turns.slice(first, last).map((messages, index) => {
        const isThis = first + index === current
        const [head] = messages
        if (!head) return null
        const turnRun = isThis ? run : runAt.get(Date.parse(head.created_at))
        return (
          <div key={head.event_id} className={isThis ? styles.thisTurn : styles.turn}>
            {turnRun && <TurnFacts run={turnRun} isThis={isThis} />}
            {messages.map((message) => (
              <MessageView
                key={message.event_id}
                message={message}
                userName={userName}
                actions={actionsOf(message)}
              />
            ))}
          </div>
        )
      })}
      {at === -1 && <p className="soft">The messages of this run are not there (any more).</p>}
      {(after > 0 || query.hasNextPage) && (
        <div className={styles.more}>
          <Button kind="quiet" onPress={showLater} isDisabled={query.isFetchingNextPage}>
            {isLater || after === 0
              ? 'Show later messages'
              : `Show ${formatNumber(after)}${query.hasNextPage ? ' or more' : ''} later ${after === 1 ? 'message' : 'messages'}`}
          </Button>
        </div>
      )}
      {branch && (
        <BranchDialog
          kind={branch.kind}
          message={branch.message}
          run={run}
          onBehalfOf={place.onBehalfOf}
          onClose={() => setBranch(undefined)}
        />
      )}
    </div>
  )
}

/** What was said in a run, and around it in its conversation. */
export const Conversation = (props: ConversationProps) => {
  const { can } = useSession()
  const isAllowed = can('sessions:messages')
  const place = useQuery({ ...conversationQuery(props.run), enabled: isAllowed })
  if (!isAllowed) return <ForbiddenState what="messages" scope="sessions:messages" />
  if (place.data) return <Turns {...props} place={place.data} />
  if (place.error instanceof ApiError && place.error.status === 404)
    return (
      <EmptyState icon="playground" title="No messages">
        The conversation was erased, or this key may not read it.
      </EmptyState>
    )
  if (place.error) return <FailedState error={place.error} onRetry={() => void place.refetch()} />
  return <LoadingMessages />
}
