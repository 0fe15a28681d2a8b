import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { z } from 'zod'
import type { Agent } from '../../api/agents.ts'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { membersQuery } from '../../api/members.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Diff } from '../../components/diff.tsx'
import { Icon } from '../../components/icon.tsx'
import { notify } from '../../components/messages.tsx'
import { EmptyState, QueryView, Skeleton } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { draftOf, settingLabels, settingsIn, settingsOf } from './agent-draft.ts'
import styles from './agents.module.css'

type Events = Answer<'/api/admin/organizations/{organization_id}/audit/events'>
type Event = Events['events'][number]

const pageSize = 200
/** Answers that are read at once; each covers about 10,000 events of the history. */
const mostPages = 20

type History = {
  /** The latest first. */
  events: Event[]
  /** Later events were not read: their position. */
  rest: number | undefined
}

const eventsOf = async (
  organizationId: string,
  query: { type: string; agent_id: string; after?: number; from?: string },
): Promise<Events> => {
  const answer = await answerOf(
    api.GET('/api/admin/organizations/{organization_id}/audit/events', {
      params: {
        path: { organization_id: organizationId },
        query: { ...query, limit: pageSize },
      },
    }),
  )
  if (typeof answer === 'string') throw new Error('The server answered with lines instead of JSON')
  return answer
}

const getHistory = async (organizationId: string, agent: Agent): Promise<History> => {
  const about = { agent_id: agent.agent_id, from: agent.created_at }
  const created = await eventsOf(organizationId, { ...about, type: 'AgentCreated' })
  const events = [...created.events]
  let after: number | undefined
  for (let page = 0; page < mostPages; page++) {
    const answer = await eventsOf(organizationId, {
      ...about,
      type: 'AgentChanged',
      ...(after === undefined ? {} : { after }),
    })
    events.push(...answer.events)
    if (!answer.has_more) return { events: events.reverse(), rest: undefined }
    after = answer.next_after
  }
  return { events: events.reverse(), rest: after }
}

const historyQuery = (organizationId: string, agent: Agent) =>
  queryOptions({
    queryKey: ['agent-history', organizationId, agent.agent_id],
    queryFn: () => getHistory(organizationId, agent),
  })

type Version = {
  before: Record<string, unknown>
  after: Record<string, unknown>
}

/** The settings before and after an event: the read model as it stood then. */
const versionQuery = (organizationId: string, agentId: string, position: number) =>
  queryOptions({
    queryKey: ['agent-version', organizationId, agentId, position],
    queryFn: async (): Promise<Version> => {
      const { changes } = await answerOf(
        api.GET('/api/admin/organizations/{organization_id}/audit/changes', {
          params: {
            path: { organization_id: organizationId },
            query: { view: 'agents', from: position - 1, to: position },
          },
        }),
      )
      const change = changes.find(({ id, after }) => id === agentId || after?.agent_id === agentId)
      return { before: settingsIn(change?.before ?? {}), after: settingsIn(change?.after ?? {}) }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

const actor = z.object({
  at: z.string(),
  actor: z.object({ user_id: z.string().nullish(), key_id: z.string().nullish() }).nullish(),
})

/** Fields of the event as the API names them. */
const changedSettings = (event: Event): string[] => {
  const data = z.record(z.string(), z.unknown()).safeParse(event.data).data ?? {}
  return Object.keys(data)
    .map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    .filter((name) => name in settingLabels)
}

const changeWords = (event: Event): string => {
  if (event.type === 'AgentCreated') return 'Created'
  const labels = changedSettings(event).map((name) => settingLabels[name] ?? name)
  return labels.length === 0 ? 'Changed' : labels.join(', ')
}

const useNames = () => {
  const { organizationId } = useSession()
  const { data } = useQuery(membersQuery(organizationId))
  return (userId: string | null | undefined): string => {
    if (!userId) return 'the platform'
    const member = data?.members.find(({ user_id }) => user_id === userId)
    return member?.name ?? member?.email ?? userId.slice(0, 8)
  }
}

/** How servers answered is no setting, and the defaults of absent settings are equal to them. */
const presentSettings = (agent: Agent): Record<string, unknown> =>
  settingsIn({
    ...settingsOf(draftOf(agent)),
    ...('credentials' in agent ? { credentials: agent.credentials } : {}),
  })

const defaults: Readonly<Record<string, unknown>> = { keyword_tools: true, limits: null }

const isNothing = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** What a new agent was given. */
const withoutDefaults = (settings: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => !isNothing(value)))

/** What a restore sends: the settings of the version that differ from the present ones. */
const restoredSettings = (agent: Agent, version: Record<string, unknown>) => {
  const present = presentSettings(agent)
  const all = { ...defaults, ...version }
  return Object.fromEntries(
    Object.entries(all).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name]),
    ),
  )
}

type AgentHistoryProps = {
  agent: Agent
  /** The position of the opened change. */
  opened: number | undefined
  onOpen: (position: number | undefined) => void
  /** Absent: the reader may not change agents. */
  onRestore?: (settings: Record<string, unknown>) => Promise<Agent>
}

const ChangeBody = ({
  agent,
  event,
  isLatest,
  onRestore,
}: {
  agent: Agent
  event: Event
  isLatest: boolean
  onRestore: AgentHistoryProps['onRestore']
}) => {
  const { organizationId } = useSession()
  const query = useQuery(versionQuery(organizationId, agent.agent_id, event.position))
  const [isRestoring, setRestoring] = useState(false)
  return (
    <QueryView query={query} skeleton={<Skeleton lines={3} height="2rem" />}>
      {({ before, after }) => {
        const settings = restoredSettings(agent, after)
        const names = Object.keys(settings)
        const isCreation = event.type === 'AgentCreated'
        const present = presentSettings(agent)
        return (
          <>
            <Diff before={before} after={isCreation ? withoutDefaults(after) : after} />
            {onRestore && !isLatest && (
              <div>
                <Button
                  icon="history"
                  isDisabled={names.length === 0}
                  onPress={() => setRestoring(true)}
                >
                  Restore this version…
                </Button>
              </div>
            )}
            <ConfirmDialog
              isOpen={isRestoring}
              onOpenChange={setRestoring}
              title="Restore this version?"
              action="Restore"
              kind="primary"
              onConfirm={async () => {
                await onRestore?.(settings)
                notify('Version restored')
              }}
            >
              <div className="stack">
                <p>The agent is changed back as follows. This is a change like any other.</p>
                <Diff
                  before={Object.fromEntries(names.map((name) => [name, present[name]]))}
                  after={settings}
                />
              </div>
            </ConfirmDialog>
          </>
        )
      }}
    </QueryView>
  )
}

/** Each change of an agent with its differences, and the way back to any version. */
export const AgentHistory = ({ agent, opened, onOpen, onRestore }: AgentHistoryProps) => {
  const { organizationId } = useSession()
  const query = useQuery(historyQuery(organizationId, agent))
  const nameOf = useNames()
  return (
    <QueryView query={query} skeleton={<Skeleton lines={5} height="2.5rem" />}>
      {({ events, rest }) =>
        events.length === 0 ? (
          <EmptyState icon="history" title="No changes are recorded" />
        ) : (
          <>
            {rest !== undefined && (
              <p className="soft small">
                Changes after position {rest} are not shown. The history has all of them.
              </p>
            )}
            <ol>
              {events.map((event, index) => {
                const { position } = event
                const isOpen = position === opened
                const { data: origin } = actor.safeParse(event.metadata)
                return (
                  <li key={position} className={styles.version}>
                    <AriaButton
                      className={styles.versionHead ?? ''}
                      aria-expanded={isOpen}
                      onPress={() => onOpen(isOpen ? undefined : position)}
                    >
                      <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
                      <strong>{changeWords(event)}</strong>
                      {index === 0 && <span className="soft">current</span>}
                      <span className="soft">
                        by {nameOf(origin?.actor?.user_id)} · <Time at={origin?.at} />
                      </span>
                    </AriaButton>
                    {isOpen && (
                      <div className={styles.versionBody}>
                        <ChangeBody
                          agent={agent}
                          event={event}
                          isLatest={index === 0}
                          onRestore={onRestore}
                        />
                      </div>
                    )}
                  </li>
                )
              })}
            </ol>
          </>
        )
      }
    </QueryView>
  )
}
