import { formatDuration } from '../format/duration.ts'
import { formatCompact, formatCredits, formatNumber } from '../format/numbers.ts'

type Amount = number | null | undefined

/** A duration in milliseconds: `1.25 s`. */
export const Duration = ({ ms }: { ms: Amount }) => (
  <span className="number">{formatDuration(ms)}</span>
)

/** An amount of credits; the title has all digits. */
export const Credits = ({ amount }: { amount: Amount }) => (
  <span
    className="number"
    title={amount === null || amount === undefined ? undefined : `${amount} credits`}
  >
    {formatCredits(amount)}
  </span>
)

/** A count, with separators of thousands or as `12.3K`. */
export const Count = ({ of, compact = false }: { of: Amount; compact?: boolean }) => (
  <span className="number" title={compact ? formatNumber(of) : undefined}>
    {compact ? formatCompact(of) : formatNumber(of)}
  </span>
)
