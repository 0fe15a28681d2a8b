const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g
/** Keys, seals, hashes, signatures and tokens. */
const secret = /\b(?:svc|usr)_[a-z]+_\w+|(?=[\w+/-]*[\dA-Z])[\w+/-]{22,}=*/g

const masked = (text: string): string =>
  text
    .replace(uuid, 'ID')
    .replace(time, 'TIME')
    .replace(secret, 'SECRET')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replace(/\b(owner|member|guest)-\d+/g, '$1-N')
    .replace(/expires=\d+/g, 'expires=TIME')
    .replace(/lag \d+ (?:events|bytes)/, 'LAG')
    .replace(/^\d+$/, 'NUMBER')
    .replace(/Organization \d+/g, 'Organization N')

/** Fields that the clock, chance or the store decides. */
const others = new Set([
  'lag_unit',
  'key_hint',
  'last4',
  'last_used_at',
  'request_count',
  'requests',
  'processingTimeMs',
  'processing_time_ms',
  'position',
  'from',
  'to',
  'next_after',
  'lag',
  'created',
  'completed_at',
  'created_at',
  'started_at',
  'elapsed_seconds',
  'durationMs',
  'duration_ms',
  'firstTokenMs',
  'time_to_first_token_ms',
  'duration_p50_ms',
  'duration_p95_ms',
  'durations',
  'uptime_seconds',
])

/** Written every few seconds by meters, so that their number is a matter of time. */
const metered: readonly unknown[] = [
  'ApiKeyUsed',
  'AccessRefused',
  'AccessRefusedAgain',
  'AccessRefusalsSummarized',
  'MessagesRead',
  'MessagesReadAgain',
  'MessageReadsSummarized',
]

const isSettled = (item: unknown): boolean => !metered.includes(Object(item).type)

/** An account is settled by turns and by what they began, whichever ends first. */
const isOfAccount = (value: object): boolean =>
  'stream' in value && `${value.stream}`.startsWith('account-')

/** A value without what differs between two runs: ids, times, positions, and the order of lists. */
export const alike = (value: unknown, name = ''): unknown => {
  if (others.has(name)) return typeof value
  if (typeof value === 'string') return masked(value)
  if (Array.isArray(value)) {
    const texts = value.filter(isSettled).map((item) => JSON.stringify(alike(item)))
    return texts.sort().map((text) => JSON.parse(text))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, item]) => [masked(name), alike(item, name)])
  if (isOfAccount(value)) entries.push(['revision', 'number'])
  return Object.fromEntries(entries)
}
