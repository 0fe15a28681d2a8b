import { type ComponentProps, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { TextField } from '../../components/fields.tsx'
import styles from './playground.module.css'

const mostBytes = 1_000_000
const encoder = new TextEncoder()

/** Counts bytes only of texts that may have too many. */
const isTooLong = (text: string): boolean =>
  text.length > mostBytes / 4 && encoder.encode(text).length > mostBytes

type ComposerProps = {
  to: string
  isRunning: boolean
  isWaiting: boolean
  canStop: boolean
  onSend: (text: string) => void
  onStop: () => void
}

/** The next message; Enter sends it, Shift Enter begins a line. */
export const Composer = ({ to, isRunning, isWaiting, canStop, onSend, onStop }: ComposerProps) => {
  const [text, setText] = useState('')
  const tooLong = isTooLong(text)
  const canSend = !isRunning && !tooLong && text.trim() !== ''
  const send = () => {
    if (!canSend) return
    onSend(text)
    setText('')
  }
  const onKeyDown: ComponentProps<typeof TextField>['onKeyDown'] = (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className={styles.composerField}>
        <TextField
          label="Message"
          hideLabel
          rows={2}
          autoFocus
          placeholder={`Message ${to}`}
          value={text}
          onChange={setText}
          onKeyDown={onKeyDown}
          error={tooLong ? 'A message has at most 1 MB of text' : undefined}
        />
      </div>
      <div className={styles.composerFoot}>
        <span className={classNames(styles.hint, !isWaiting && styles.keys)}>
          {isWaiting
            ? 'A new message withdraws the waiting call'
            : 'Enter sends, Shift Enter begins a line'}
        </span>
        <span className="row">
          {(isRunning || isWaiting) && (
            <Button icon="stop" isDisabled={!canStop} onPress={onStop}>
              Stop
            </Button>
          )}
          {!isRunning && (
            <Button kind="primary" icon="arrow-up" type="submit" isDisabled={!canSend}>
              Send
            </Button>
          )}
        </span>
      </div>
    </form>
  )
}
