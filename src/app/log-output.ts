import { constants, fstatSync, openSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'

/** Lines are written once so many characters wait, or this often. */
const writeAt = 32_768
const writeEveryMs = 500
/** What may wait while an output takes nothing, in bytes. */
const mostWaiting = 1_048_576
/** When an output that takes nothing is tried again. */
const retryMs = 50
const lineEnd = 10

/** Makes writes to a pipe fail when it is full, where they would otherwise wait. */
const unblocked = (fd: number): Socket | undefined => {
  const kind = fstatSync(fd)
  if (!kind.isFIFO() && !kind.isSocket()) return undefined
  return new Socket({ fd, readable: false, writable: true }).unref()
}

/**
 * The terminal, reopened so that writes fail instead of blocking: a stopped terminal (Ctrl-S) would
 * keep the process from ending. Where the system cannot, the same descriptor.
 */
const ownTerminal = (fd: number): number => {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return fd
  }
}

const linesIn = (bytes: Buffer): number => {
  let lines = 0
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) lines++
  return lines
}

type Options = { fd?: number; most?: number }

/**
 * Writes lines to a file descriptor without ever waiting for it: lines that do not fit in memory
 * while it is blocked, and lines that it refuses (a full disk, a closed pipe), are dropped and
 * counted.
 */
export const logOutput = ({ fd: given = 1, most = mostWaiting }: Options = {}) => {
  const fd = isatty(given) ? ownTerminal(given) : given
  const handle = unblocked(fd)
  let lines: string[] = []
  /** Characters of `lines`, and bytes that are being written. */
  let waiting = 0
  let writing = 0
  let dropped = 0
  /** The last write may have ended within a line. */
  let torn = false
  let timer: NodeJS.Timeout | undefined
  let whenIdle: (() => void)[] = []

  const idle = () => {
    writing = 0
    if (waiting >= writeAt || whenIdle.length > 0) next()
    if (writing > 0) return
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  const send = (bytes: Buffer): void => {
    write(fd, bytes, 0, bytes.length, null, (error, bytesWritten) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(send, retryMs, bytes).unref()
        return
      }
      if (error) {
        dropped += linesIn(bytes) - (bytes[0] === lineEnd ? 1 : 0)
        torn = true
        idle()
      } else if (bytesWritten < bytes.length) send(bytes.subarray(bytesWritten))
      else idle()
    })
  }

  /** Writes what waits, unless a write is under way. */
  const next = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (writing > 0 || lines.length === 0) return
    const bytes = Buffer.from(`${torn ? '\n' : ''}${lines.join('')}`)
    torn = false
    writing = bytes.length
    lines = []
    waiting = 0
    send(bytes)
  }

  return {
    /** Takes one or more lines with their ends. */
    write(text: string): void {
      if (waiting + writing + text.length > most) {
        dropped++
        return
      }
      lines.push(text)
      waiting += text.length
      if (waiting >= writeAt) next()
      else timer ??= setTimeout(next, writeEveryMs).unref()
    },

    /** How many lines were dropped. */
    dropped: (): number => dropped,

    /** Resolves when all lines are written or dropped, at the latest after so many milliseconds. */
    flushed: (withinMs: number): Promise<void> =>
      new Promise((resolve) => {
        const late = setTimeout(resolve, withinMs)
        whenIdle.push(() => {
          clearTimeout(late)
          resolve()
        })
        if (writing === 0) idle()
      }),

    /** Held as long as the output is: when it is collected, the descriptor is closed. */
    handle,
  }
}
