/** `000Z` to `999Z`. */
const milliseconds = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

let second = Number.NaN
let upToSecond = ''
let last = Number.NaN
let text = ''

/**
 * A time (milliseconds since 1970) in ISO 8601. Times of the same second cost a tenth of a Date's
 * text, and those of the same millisecond share it.
 */
export const isoTime = (ms: number): string => {
  if (ms === last) return text
  const seconds = Math.floor(ms / 1_000)
  if (seconds !== second) {
    upToSecond = new Date(seconds * 1_000).toISOString().slice(0, -4)
    second = seconds
  }
  last = ms
  text = upToSecond + milliseconds[ms - seconds * 1_000]
  return text
}

/** Unix seconds of a time in ISO 8601. */
export const unixSeconds = (iso: string): number => Math.floor(Date.parse(iso) / 1_000)
