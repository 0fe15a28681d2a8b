import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useSession } from '../../session/session.ts'
import { type Conversation, conversationKey, conversationQuery } from './conversation-queries.ts'
import { isOver } from './turn.ts'
import { createTurnStore } from './turn-store.ts'

const lastQuestion = ({ messages, older }: Conversation): number =>
  older + messages.findLastIndex(({ event_type }) => event_type === 'user_message')

/**
 * The messages of a session and its running turn. A page that is opened while a turn runs follows
 * it from its start; the latest turn of a session is shown with its steps.
 */
export const useConversation = (sessionId: string | undefined) => {
  const client = useQueryClient()
  const { can } = useSession()
  const canRead = can('sessions:messages')
  const store = useMemo(
    () =>
      createTurnStore((id) => {
        for (const queryKey of [conversationKey(id), ['session-detail', id], ['recent-sessions']])
          void client.invalidateQueries({ queryKey })
      }),
    [client],
  )
  const live = useSyncExternalStore(store.subscribe, store.get)
  const [from, setFrom] = useState<{ sessionId: string; page: number }>()
  const page = from?.sessionId === sessionId ? from?.page : undefined
  const isOurs = live !== undefined && live.sessionId === sessionId
  const isUnborn = isOurs && live.isNew && !isOver(live.turn)
  const query = useQuery({
    ...conversationQuery(sessionId ?? '', page),
    enabled: canRead && sessionId !== undefined && !isUnborn,
    placeholderData: (former, formerQuery) =>
      formerQuery?.queryKey[1] === sessionId ? former : undefined,
  })
  const { data } = query

  useEffect(() => {
    const present = store.get()
    if (present && present.sessionId !== sessionId) store.leave()
    if (!sessionId || !data || store.get()) return
    if (data.messages.length === 0) return
    void store.follow(sessionId, lastQuestion(data))
  }, [sessionId, data, store])
  useEffect(() => () => store.leave(), [store])

  return {
    store,
    live: isOurs ? live : undefined,
    query,
    canRead,
    loadEarlier: () => {
      if (sessionId && data?.earlierPage) setFrom({ sessionId, page: data.earlierPage })
    },
  }
}
