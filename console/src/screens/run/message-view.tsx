import { useState } from 'react'
import { IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { CodeBlock, CopyButton, JsonBlock } from '../../components/code-block.tsx'
import { Menu, type MenuAction } from '../../components/menu.tsx'
import { Time } from '../../components/time.tsx'
import { formatBytes } from '../../format/numbers.ts'
import { MessageText } from './message-text.tsx'
import styles from './run.module.css'
import type { Message } from './run-queries.ts'

const senderOf = ({ event_type: type, agent }: Message, userName: string): string => {
  if (type === 'user_message') return userName
  return agent ?? (type === 'tool_message' ? 'Tool result' : 'Assistant')
}

const Files = ({ parts }: { parts: NonNullable<Message['parts']> }) => (
  <ul className={styles.files}>
    {parts.map(({ id, url, name, media_type, bytes }) => (
      <li key={id}>
        <a href={url} target="_blank" rel="noopener noreferrer">
          {name ?? media_type}
        </a>{' '}
        <span className="soft">{formatBytes(bytes)}</span>
      </li>
    ))}
  </ul>
)

type MessageViewProps = {
  message: Message
  userName: string
  actions: readonly MenuAction[]
}

/** A message: who sent it and when, its text, and its JSON on demand. */
export const MessageView = ({ message, userName, actions }: MessageViewProps) => {
  const [isJson, setJson] = useState(false)
  const { event_type: type, content, created_at: at, parts, tool_calls: calls } = message
  const sender = senderOf(message, userName)
  const isUser = type === 'user_message'
  return (
    <article
      className={classNames(styles.message, isUser && styles.fromUser)}
      aria-label={`Message of ${sender}`}
    >
      <header className={styles.messageHead}>
        <strong className="truncate" dir="auto" title={sender}>
          {sender}
        </strong>
        <span className="soft small">
          <Time at={at} />
        </span>
        <span className={styles.messageActions}>
          <CopyButton text={content} what="Message" />
          <Menu
            label="Message"
            trigger={<IconButton icon="more" label="More actions" />}
            actions={[
              ...actions,
              {
                id: 'json',
                label: isJson ? 'Hide JSON' : 'Show JSON',
                icon: 'table',
                onAction: () => setJson(!isJson),
              },
            ]}
          />
        </span>
      </header>
      {content !== '' && <MessageText text={content} isMarkdown={type === 'assistant_message'} />}
      {parts && parts.length > 0 && <Files parts={parts} />}
      {calls?.map((call) => (
        <CodeBlock
          key={call.id}
          title={`Call of ${call.function.name}`}
          code={call.function.arguments}
          wrap
        />
      ))}
      {isJson && <JsonBlock title="Message as JSON" value={message} />}
    </article>
  )
}
