import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { StreamCall } from '../../api/as-code.ts'
import { answerOf, api } from '../../api/client.ts'
import { organizationQuery } from '../../api/organization.ts'
import { ApiError, messageOf } from '../../api/problem.ts'
import { Count } from '../../components/amounts.tsx'
import { Button } from '../../components/button.tsx'
import { Select } from '../../components/fields.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Menu, type MenuAction } from '../../components/menu.tsx'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import {
  EmptyState,
  ErrorState,
  FailedState,
  ForbiddenState,
  Skeleton,
} from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { formatRelative } from '../../format/time.ts'
import { useSession } from '../../session/session.ts'
import { Activity, activityWords } from './activity.tsx'
import { ApprovalCard, type Decision } from './approval-card.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { Composer } from './composer.tsx'
import {
  activeAgentsQuery,
  type Conversation,
  conversationQuery,
  type Message,
  recentSessionsQuery,
  sessionQuery,
} from './conversation-queries.ts'
import { contentIdsOf, GeneratedContent } from './generated-content.tsx'
import { MessageFrame, MessageView } from './message-view.tsx'
import styles from './playground.module.css'
import { type ApprovalRequest, isOver, type Turn, textOf } from './turn.ts'
import type { LiveTurn } from './turn-store.ts'
import { useConversation } from './use-conversation.ts'

const route = getRouteApi('/playground')
const orchestrator = 'orchestrator'
const chatPath = '/api/external/v1/chat/completions'
const streamOptions = { agent_events: 'plain', include_usage: true } as const

const chatBody = (text: string, sessionId: string | undefined, agentId: string | undefined) => ({
  messages: [{ role: 'user', content: text }],
  stream: true,
  stream_options: streamOptions,
  ...(sessionId ? { session_id: sessionId } : {}),
  ...(agentId ? { target_agent_id: agentId } : {}),
})

const streamCall = (url: string, body: unknown): StreamCall => ({
  method: 'POST',
  url,
  body,
  isStream: true,
})

/** Scrolls along while the end of the page is in view. */
const useFollowEnd = () => {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = ref.current
    if (!element) return undefined
    let isAtEnd = true
    const onScroll = () => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement
      isAtEnd = scrollHeight - clientHeight - scrollTop < 80
    }
    const observer = new ResizeObserver(() => {
      if (isAtEnd) window.scrollTo({ top: document.documentElement.scrollHeight })
    })
    observer.observe(element)
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      window.removeEventListener('scroll', onScroll)
    }
  }, [])
  return ref
}

const RunFacts = ({ turn: { runId, tokens, state } }: { turn: Turn }) => {
  const { can } = useSession()
  if (!runId || state === 'running') return null
  return (
    <p className={`soft small ${styles.facts}`}>
      {tokens !== undefined && (
        <span>
          <Count of={tokens} /> tokens
        </span>
      )}
      {can('admin:read') && (
        <Link to="/runs/$runId" params={{ runId }}>
          Open run
        </Link>
      )}
    </p>
  )
}

/** Something was generated, and the answer does not say under which id. */
const isContentUnnamed = ({ agents }: Turn, text: string): boolean =>
  agents.some(({ tools }) => tools.some(({ name }) => name === 'generate_content')) &&
  contentIdsOf(text).length === 0

type LiveAnswerProps = {
  live: LiveTurn
  canDecide: boolean
  onDecided: (request: ApprovalRequest, decision: Decision) => void
  onRetry: (() => void) | undefined
}

const speakerOf = ({ agents }: Turn): string => agents.at(-1)?.name ?? 'Assistant'

/** The answer of a turn that runs, waits or has failed. */
const LiveAnswer = ({ live, canDecide, onDecided, onRetry }: LiveAnswerProps) => {
  const { turn, refusal } = live
  const { segments, approvals, state, error, payments } = turn
  const isStopped = error?.code === 'turn_cancelled'
  if (refusal !== undefined)
    return <ErrorState error={refusal} title="The message was not accepted" onRetry={onRetry} />
  return (
    <MessageFrame who={speakerOf(turn)}>
      <Activity turn={turn} />
      {segments.map(({ agent, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: segments are only added at the end
        <div key={index} className={styles.segment}>
          {agent !== null && (
            <strong className="small" dir="auto">
              {agent}
            </strong>
          )}
          <Markdown text={text} />
        </div>
      ))}
      {state === 'running' && segments.length === 0 && (
        <Skeleton lines={2} height="0.875rem" width="60%" />
      )}
      {payments.map((message) => (
        <p key={message} className="soft">
          <Status status="waiting" label="Payment required" /> {message}
        </p>
      ))}
      {state === 'waiting' &&
        approvals.map((request) => (
          <ApprovalCard
            key={request.approval_id}
            request={request}
            canDecide={canDecide}
            onDecided={onDecided}
          />
        ))}
      {error && isStopped && <Status status="cancelled" label="Stopped" />}
      {error && !isStopped && (
        <ErrorState
          error={new ApiError(error.message, { status: 500, code: error.code })}
          title="The turn failed"
        />
      )}
      {isOver(turn) && state !== 'waiting' && <GeneratedContent text={textOf(turn)} />}
      <RunFacts turn={turn} />
    </MessageFrame>
  )
}

/** Conversations of the session's user, the latest first. */
const RecentMenu = ({ onOpen }: { onOpen: (sessionId: string) => void }) => {
  const { data } = useQuery(recentSessionsQuery)
  const actions: MenuAction[] = (data?.sessions ?? []).map((session) => ({
    id: session.session_id,
    label: `${formatRelative(new Date(session.last_update_time), new Date())} · ${session.message_count} messages · ${session.session_id.slice(0, 8)}`,
    onAction: () => onOpen(session.session_id),
  }))
  return (
    <Menu
      label="Recent conversations"
      trigger={
        <Button icon="history" isDisabled={actions.length === 0}>
          Recent
        </Button>
      }
      actions={actions}
    />
  )
}

/** Why a session that no stream tells about goes on later. */
const SessionNotice = ({ sessionId }: { sessionId: string }) => {
  const { data } = useQuery(sessionQuery(sessionId))
  if (data?.state !== 'awaiting_approval' && data?.state !== 'in_doubt') return null
  return (
    <p className={styles.notice}>
      <Status
        status={data.state}
        tone="warn"
        label={data.state === 'in_doubt' ? 'Call in doubt' : 'Waiting for approval'}
      />
      <Link to="/approvals">Open approvals</Link>
    </p>
  )
}

/** Active agents beside the orchestrator, which answers without being chosen. */
const useOtherAgents = () => {
  const { can, isManager, organizationId } = useSession()
  const { data: organization } = useQuery({
    ...organizationQuery(organizationId),
    enabled: can('admin:read') && isManager,
  })
  const { data } = useQuery({ ...activeAgentsQuery, enabled: can('agents:list') })
  return (data?.agents ?? []).filter(
    ({ agent_id }) => agent_id !== organization?.orchestrator_agent_id,
  )
}

const AgentSelect = ({
  agentId,
  onChange,
}: {
  agentId: string | undefined
  onChange: (agentId: string | undefined) => void
}) => {
  const others = useOtherAgents()
  const options = [
    { id: orchestrator, label: 'Orchestrator' },
    ...others.map(({ agent_id: id, name }) => ({ id, label: name })),
  ]
  const isKnown = options.some(({ id }) => id === agentId)
  return (
    <Select
      label="Agent"
      hideLabel
      options={options}
      value={agentId && isKnown ? agentId : orchestrator}
      onChange={(id) => onChange(id === orchestrator ? undefined : id)}
    />
  )
}

const useAgentName = (agentId: string | undefined): string => {
  const { can } = useSession()
  const { data } = useQuery({ ...activeAgentsQuery, enabled: can('agents:list') })
  if (agentId === undefined) return 'the orchestrator'
  return data?.agents.find(({ agent_id }) => agent_id === agentId)?.name ?? 'the agent'
}

const noConversation: Conversation = { messages: [], older: 0, earlierPage: undefined }

const Welcome = () => {
  const names = useOtherAgents().map(({ name }) => name)
  return (
    <EmptyState icon="playground" title="Start a conversation">
      The orchestrator answers, or hands the message to one of its agents
      {names.length > 0 && names.length <= 12 ? `: ${names.join(', ')}` : ''}.
    </EmptyState>
  )
}

const PlaygroundConversation = () => {
  const { session: sessionId, agent: agentId, code } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const { can } = useSession()
  const { store, live, query, canRead, loadEarlier } = useConversation(sessionId)
  const [lastCall, setLastCall] = useState<StreamCall>()
  const agentName = useAgentName(agentId)
  const conversation = query.data ?? noConversation
  const { messages, older } = conversation
  const end = useFollowEnd()

  const open = (id: string | undefined) =>
    void navigate({ search: (former) => ({ ...former, session: id, code: undefined }) })

  const startTurn = (turn: Parameters<typeof store.start>[0]) => {
    setLastCall(streamCall(turn.path, turn.body))
    void store.start(turn)
    if (turn.sessionId !== sessionId) open(turn.sessionId)
  }
  const send = (text: string) => {
    const id = sessionId ?? crypto.randomUUID()
    startTurn({
      sessionId: id,
      after: older + messages.length,
      question: text,
      isNew: sessionId === undefined,
      path: chatPath,
      body: chatBody(text, id, agentId),
    })
  }
  /** A turn that waited goes on, or has ended. */
  const followAgain = () => {
    if (!sessionId) return
    void store.follow(sessionId, live?.after ?? older + messages.length - 1, live?.question)
  }
  const stop = async () => {
    if (!sessionId) return
    const url = `/api/external/sessions/${encodeURIComponent(sessionId)}/cancel`
    setLastCall({ method: 'POST', url, body: {} })
    try {
      await answerOf(
        api.POST('/api/external/sessions/{session_id}/cancel', {
          params: { path: { session_id: sessionId } },
          body: {},
        }),
      )
      if (live?.turn.state === 'waiting') followAgain()
    } catch (error) {
      notify(messageOf(error), 'bad')
    }
  }
  const followDecided = (request: ApprovalRequest, decision: Decision) => {
    if (!sessionId) return
    const url = `/api/external/approvals/${request.approval_id}`
    const body = { ...decision, arguments_digest: request.arguments_digest }
    setLastCall({ method: 'POST', url, body })
    followAgain()
  }
  const fork = async (message: Message) => {
    if (!sessionId) return
    const path = { session_id: sessionId }
    const body = { after: message.event_id }
    setLastCall({
      method: 'POST',
      url: `/api/external/sessions/${encodeURIComponent(sessionId)}/fork`,
      body,
    })
    try {
      const { session_id } = await answerOf(
        api.POST('/api/external/sessions/{session_id}/fork', { params: { path }, body }),
      )
      open(session_id)
      notify('Forked into a conversation of its own')
    } catch (error) {
      notify(messageOf(error), 'bad')
    }
  }
  const regenerate = (index: number) => {
    const at = messages.findLastIndex(
      ({ event_type }, place) => place <= index && event_type === 'user_message',
    )
    const question = messages[at]
    if (!sessionId || !question) return
    const id = crypto.randomUUID()
    client.setQueryData(conversationQuery(id).queryKey, {
      ...conversation,
      messages: messages.slice(0, at),
    })
    startTurn({
      sessionId: id,
      after: older + at,
      question: question.content,
      isNew: true,
      path: `/api/external/sessions/${encodeURIComponent(sessionId)}/messages/${question.event_id}/regenerate`,
      body: { session_id: id, stream: true, stream_options: streamOptions },
    })
  }

  /** The stored answer of the turn at hand replaces what was streamed. */
  const answerIndex = live
    ? messages.findIndex(
        ({ event_type }, index) => older + index > live.after && event_type === 'assistant_message',
      )
    : -1
  const isRunning = live !== undefined && !isOver(live.turn) && answerIndex === -1

  const actionsOf = (message: Message, index: number): MenuAction[] =>
    canRead && !isRunning
      ? [
          {
            id: 'regenerate',
            label: message.event_type === 'user_message' ? 'Send again in a fork' : 'Regenerate',
            icon: 'refresh',
            onAction: () => regenerate(index),
          },
          {
            id: 'fork',
            label: 'Fork from here',
            icon: 'fork',
            onAction: () => void fork(message),
          },
        ]
      : []

  const isStored = live !== undefined && older + messages.length > live.after
  const isUnknown = query.error instanceof ApiError && query.error.status === 404
  const isEmpty = messages.length === 0 && live === undefined
  const call: StreamCall =
    lastCall ??
    streamCall(
      chatPath,
      chatBody(
        messages.findLast(({ event_type }) => event_type === 'user_message')?.content ?? 'Hello',
        sessionId,
        agentId,
      ),
    )

  return (
    <Page
      title="Playground"
      actions={
        <>
          {can('agents:list') && (
            <div className={styles.agentSelect}>
              <AgentSelect
                agentId={agentId}
                onChange={(agent) =>
                  void navigate({ search: (former) => ({ ...former, agent }), replace: true })
                }
              />
            </div>
          )}
          {can('sessions:read') && <RecentMenu onOpen={open} />}
          <Button
            icon="code"
            onPress={() => void navigate({ search: (former) => ({ ...former, code: 'curl' }) })}
          >
            Code
          </Button>
          <Button icon="plus" onPress={() => open(undefined)}>
            New
          </Button>
        </>
      }
    >
      <div className={styles.conversation}>
        <div className={styles.messages} ref={end}>
          {conversation.earlierPage !== undefined && (
            <div>
              <Button isDisabled={query.isFetching} onPress={loadEarlier}>
                Load earlier messages
              </Button>
            </div>
          )}
          {sessionId !== undefined && query.isLoading && (
            <div aria-busy="true">
              <Skeleton lines={4} height="3rem" />
            </div>
          )}
          {isUnknown && live === undefined ? (
            <EmptyState icon="search" title="There is no such conversation">
              It may have been deleted, or belongs to another key.
            </EmptyState>
          ) : (
            query.error && <FailedState error={query.error} onRetry={() => void query.refetch()} />
          )}
          {sessionId === undefined && isEmpty && <Welcome />}
          {!canRead && sessionId !== undefined && (
            <p className={styles.notice}>
              Earlier messages need the scope <code>sessions:messages</code>.
            </p>
          )}
          {messages.map((message, index) => (
            <MessageView
              key={message.event_id}
              message={message}
              actions={actionsOf(message, index)}
              before={live && index === answerIndex && <Activity turn={live.turn} />}
              after={
                message.event_type === 'assistant_message' && (
                  <>
                    <GeneratedContent text={message.content} />
                    {live && index === answerIndex && (
                      <>
                        {live.turn.error?.code === 'turn_cancelled' && (
                          <Status status="cancelled" label="Stopped" />
                        )}
                        {isContentUnnamed(live.turn, message.content) && can('content:read') && (
                          <p className="small">
                            <Link to="/content">Generated content</Link>
                          </p>
                        )}
                        <RunFacts turn={live.turn} />
                      </>
                    )}
                  </>
                )
              }
            />
          ))}
          {live && !isStored && live.question !== undefined && (
            <MessageFrame who="You" isUser>
              <p className={styles.plain} dir="auto">
                {live.question}
              </p>
            </MessageFrame>
          )}
          {live && answerIndex === -1 && (
            <LiveAnswer
              live={live}
              canDecide={can('approvals:decide')}
              onDecided={followDecided}
              onRetry={live.question === undefined ? undefined : () => send(live.question ?? '')}
            />
          )}
          {sessionId && !live && can('sessions:read') && <SessionNotice sessionId={sessionId} />}
          <p className="visually-hidden" role="status">
            {live && (isRunning ? activityWords(live.turn) : 'The turn has ended')}
          </p>
        </div>
        <Composer
          key={sessionId ?? 'new'}
          to={agentName}
          isRunning={isRunning}
          isWaiting={live?.turn.state === 'waiting'}
          canStop={sessionId !== undefined}
          onSend={send}
          onStop={() => void stop()}
        />
      </div>
      <CodeDialog
        language={code}
        call={call}
        onLanguage={(language) =>
          void navigate({ search: (former) => ({ ...former, code: language }), replace: true })
        }
      />
    </Page>
  )
}

/** A conversation with the organization's agents, as it happens. */
export const PlaygroundScreen = () => {
  const { can } = useSession()
  const missing = ['orchestrator:invoke', 'orchestrator:stream'].find((scope) => !can(scope))
  if (missing === undefined) return <PlaygroundConversation />
  return (
    <Page title="Playground">
      <ForbiddenState scope={missing} what="the playground" />
    </Page>
  )
}
