import { latest, type Position } from '../domain/event.ts'
import { START } from '../ports/event-store.ts'

/** How often waits are looked at for having lasted too long: one timer for all of them. */
const tickMs = 50

type Wait = {
  position: Position
  views: readonly string[]
  until: number
  settle: (passed: boolean) => void
}

const yes = Promise.resolve(true)

/**
 * How far each view is, and who waits for it. A view that is behind when the others have long
 * passed is left aside until it moves again: it has stopped, here or on another node, and is waited
 * for once, not by every caller.
 */
export const watermarks = (names: readonly string[], now: () => number) => {
  const positions = new Map<string, Position>(names.map((name) => [name, START]))
  const aside = new Set<string>()
  /** Undefined: no view is waited for. */
  let lowest: Position | undefined = START
  let queue: Wait[] = []
  let timer: NodeJS.Timeout | undefined

  const behind = (name: string, position: Position) =>
    !aside.has(name) && (positions.get(name) ?? START) < position

  const reached = ({ position, views }: Pick<Wait, 'position' | 'views'>) =>
    views === names
      ? lowest === undefined || lowest >= position
      : !views.some((name) => behind(name, position))

  const settle = () => {
    let minimum: Position | undefined
    for (const [name, position] of positions)
      if (!aside.has(name) && (minimum === undefined || position < minimum)) minimum = position
    lowest = minimum
    if (queue.length === 0) return
    const waiting = queue
    queue = []
    for (const wait of waiting)
      if (reached(wait)) wait.settle(true)
      else queue.push(wait)
  }

  const expire = () => {
    const time = now()
    const late = queue.filter(({ until }) => until <= time)
    queue = queue.filter(({ until }) => until > time)
    const furthest = latest(START, ...positions.values())
    for (const { position, views, settle: answer } of late) {
      if (furthest >= position)
        for (const name of views) if (behind(name, position)) aside.add(name)
      answer(false)
    }
    if (late.length > 0) settle()
    if (queue.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  settle()
  return {
    /** How far every view is that has not stopped. */
    lowest: (): Position => lowest ?? START,
    /** How far one view is known to be. */
    at: (name: string) => positions.get(name) ?? START,
    waiting: () => queue.length > 0,
    /** True as soon as the views have passed a position; false when that takes too long. */
    waitForPosition(position: Position, timeoutMs: number, views: readonly string[] = names) {
      if (reached({ position, views })) return yes
      timer ??= setInterval(expire, tickMs)
      return new Promise<boolean>((settle) => {
        queue.push({ position, views, until: now() + timeoutMs, settle })
      })
    },
    /** Where views stand now; a view that went on is waited for again. */
    moved(marks: readonly { view: string; position: Position }[]) {
      for (const { view, position } of marks) {
        if (position <= (positions.get(view) ?? START)) continue
        positions.set(view, position)
        aside.delete(view)
      }
      settle()
    },
    /** A view that was made anew stands wherever it stands, and is waited for again. */
    renewed(name: string, position: Position) {
      positions.set(name, position)
      aside.delete(name)
      settle()
    },
    /** Nobody waits for a view that has stopped. */
    stopped(name: string) {
      aside.add(name)
      settle()
    },
    /** Answers everyone who still waits: it will not come to pass here. */
    end() {
      clearInterval(timer)
      timer = undefined
      for (const { settle: answer } of queue.splice(0)) answer(false)
    },
  }
}
