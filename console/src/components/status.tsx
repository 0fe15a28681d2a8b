import { classNames } from './class-names.ts'
import styles from './status.module.css'

export type Tone = 'good' | 'bad' | 'warn' | 'active' | 'neutral'

/** How the statuses of runs, files, content, keys and approvals look. */
const tones: Readonly<Record<string, Tone>> = {
  completed: 'good',
  succeeded: 'good',
  approved: 'good',
  ready: 'good',
  active: 'good',
  ok: 'good',
  failed: 'bad',
  timed_out: 'bad',
  denied: 'bad',
  damaged: 'bad',
  revoked: 'bad',
  unavailable: 'bad',
  running: 'active',
  in_progress: 'active',
  processing: 'active',
  generating: 'active',
  queued: 'active',
  pending: 'warn',
  waiting: 'warn',
  awaiting_approval: 'warn',
  paused: 'warn',
  interrupted: 'warn',
  in_doubt: 'warn',
  requires_action: 'warn',
  degraded: 'warn',
  expired: 'neutral',
  cancelled: 'neutral',
  handed_over: 'neutral',
  inactive: 'neutral',
}

const labelOf = (status: string): string => {
  const words = status.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

type StatusProps = { status: string; tone?: Tone; label?: string }

/** A state as a word with a mark; color never says it alone. */
export const Status = ({ status, tone, label }: StatusProps) => {
  const look = tone ?? tones[status] ?? 'neutral'
  return (
    <span className={classNames(styles.status, look !== 'neutral' && styles[look])}>
      {label ?? labelOf(status)}
    </span>
  )
}
