import type { ReactNode } from 'react'
import { IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { CopyButton } from '../../components/code-block.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Menu, type MenuAction } from '../../components/menu.tsx'
import { Time } from '../../components/time.tsx'
import type { Message } from './conversation-queries.ts'
import styles from './playground.module.css'

type FrameProps = {
  who: string
  isUser?: boolean
  at?: string | undefined
  actions?: ReactNode
  children: ReactNode
}

/** One message: who said it, when, and what can be done with it. */
export const MessageFrame = ({ who, isUser = false, at, actions, children }: FrameProps) => (
  <article className={classNames(styles.message, isUser && styles.user)} aria-label={`${who} said`}>
    <header className={styles.messageHead}>
      <strong className="truncate" dir="auto">
        {who}
      </strong>
      {at && (
        <span className="soft small">
          <Time at={at} />
        </span>
      )}
      <span className={styles.messageActions}>{actions}</span>
    </header>
    {children}
  </article>
)

const Files = ({ parts }: { parts: NonNullable<Message['parts']> }) => (
  <ul className={styles.contents}>
    {parts.map(({ id, kind, url, name, media_type }) => (
      <li key={id}>
        {kind === 'image' ? (
          <img src={url} alt={name ?? 'Attached'} className={styles.picture} />
        ) : (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {name ?? media_type}
          </a>
        )}
      </li>
    ))}
  </ul>
)

type MessageViewProps = {
  message: Message
  actions: readonly MenuAction[]
  /** What the turn did before it answered. */
  before?: ReactNode
  after?: ReactNode
}

/** A stored message. */
export const MessageView = ({ message, actions, before, after }: MessageViewProps) => {
  const { event_type: type, content, agent, created_at: at, parts, tool_calls: calls } = message
  const isUser = type === 'user_message'
  const who = isUser ? 'You' : (agent ?? (type === 'tool_message' ? 'Tool result' : 'Assistant'))
  return (
    <MessageFrame
      who={who}
      isUser={isUser}
      at={at}
      actions={
        <>
          <CopyButton text={content} what="Message" />
          {actions.length > 0 && (
            <Menu
              label="Message"
              trigger={<IconButton icon="more" label="More actions" />}
              actions={actions}
            />
          )}
        </>
      }
    >
      {before}
      {isUser ? (
        <p className={styles.plain} dir="auto">
          {content}
        </p>
      ) : (
        <Markdown text={content} />
      )}
      {parts && parts.length > 0 && <Files parts={parts} />}
      {calls?.map((call) => (
        <p key={call.id} className="soft">
          Called <code>{call.function.name}</code> of the client
        </p>
      ))}
      {after}
    </MessageFrame>
  )
}
