import { openSync, readSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const everyMs = 1

/**
 * Preloaded into a server, measures the CPU time of each turn of its event loop, to a millisecond.
 * Each message on the IPC channel is answered with the longest since the last one, in milliseconds.
 * Other processes of the machine do not count.
 */
const watch = () => {
  const file = openSync('/proc/thread-self/schedstat', 'r')
  const bytes = Buffer.alloc(64)
  const cpuMs = (): number => {
    const read = readSync(file, bytes, 0, bytes.length, 0)
    return Number.parseInt(bytes.toString('latin1', 0, read), 10) / 1e6
  }
  let last = cpuMs()
  let longest = 0
  setInterval(() => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }, everyMs).unref()
  process.on('message', () => {
    process.send?.(longest)
    longest = 0
  })
  process.channel?.unref()
}

if (isMainThread && process.send) watch()
