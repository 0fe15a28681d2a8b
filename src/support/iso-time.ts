/** `000Z` to `999Z`. */
const ends = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

let second = Number.NaN
let begin = ''

/** A time (milliseconds since 1970) in ISO 8601. Times of the same second cost a tenth of a Date's text. */
export const isoTime = (ms: number): string => {
  const whole = Math.floor(ms / 1_000)
  if (whole !== second) {
    begin = new Date(whole * 1_000).toISOString().slice(0, -4)
    second = whole
  }
  return begin + ends[ms - whole * 1_000]
}
