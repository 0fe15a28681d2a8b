import { missing } from './numbers.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** 12 ms, 1.25 s, 2 min 5 s, 3 h 12 min, 4 d 2 h: two parts at most. */
export const formatDuration = (ms: number | null | undefined): string => {
  if (ms === null || ms === undefined) return missing
  if (ms < second - 0.5) return `${Math.round(ms)} ms`
  if (ms < 10 * second) return `${(ms / second).toFixed(2)} s`
  if (ms < minute - 50) return `${(ms / second).toFixed(1)} s`
  const parts = (large: number, small: number, names: readonly [string, string]) => {
    const total = Math.round(ms / small)
    const ratio = large / small
    const rest = total % ratio
    return `${Math.floor(total / ratio)} ${names[0]}${rest ? ` ${rest} ${names[1]}` : ''}`
  }
  if (ms < hour) return parts(minute, second, ['min', 's'])
  if (ms < day) return parts(hour, minute, ['h', 'min'])
  return parts(day, hour, ['d', 'h'])
}
