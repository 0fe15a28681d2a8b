const locale = 'en'

const steps = [
  { unit: 'second', ms: 1_000, below: 60_000 },
  { unit: 'minute', ms: 60_000, below: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, below: 86_400_000 },
  { unit: 'day', ms: 86_400_000, below: 30 * 86_400_000 },
  { unit: 'month', ms: 30 * 86_400_000, below: 365 * 86_400_000 },
  { unit: 'year', ms: 365 * 86_400_000, below: Number.POSITIVE_INFINITY },
] as const

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'short' })

/** "5 min. ago", "in 2 hr."; "now" within five seconds. */
export const formatRelative = (at: Date, now: Date): string => {
  const distance = at.getTime() - now.getTime()
  const size = Math.abs(distance)
  if (size < 5_000) return 'now'
  const step = steps.find(({ below }) => size < below) ?? steps[5]
  return relative.format(Math.trunc(distance / step.ms), step.unit)
}

/** "26 Nov 2026, 16:30:05 UTC", in the zone of the browser unless another is given. */
export const formatAbsolute = (at: Date, timeZone?: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(at)

/** "26 Nov", of a day in UTC as `2026-11-26`. */
export const formatDay = (day: string): string =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  )
