import { readFileSync } from 'node:fs'

/** Changes with each start of the machine; undefined if the system has none. */
export const bootId = (): string | undefined => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}
