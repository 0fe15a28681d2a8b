import type { ChildProcess, ForkOptions, Serializable } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { projectionsAt } from '../../projections/all.ts'
import { earliest, type Position } from '../domain/event.ts'
import { sharedBatches, sharedItems } from '../feeds/shared-items.ts'
import type { Damage } from '../ports/damage.ts'
import { type EventStore, START, StoreUnavailable } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import type { Document } from '../ports/views.ts'
import type { Projecting, ProjectionState } from '../projector/projector.ts'
import type { Progress } from '../projector/rebuild.ts'
import type { MasterKeys } from '../security/master-keys.ts'
import { backOff } from '../support/back-off.ts'
import { type Deferred, deferred } from '../support/deferred.ts'
import { type Calls, callsOver, type Parts } from '../support/port-calls.ts'
import { startProcess } from '../support/start-process.ts'
import type { AuditReads } from './audit-reads.ts'
import type { Later } from './later.ts'
import type { LaterBegin, LaterMessage, PlainRing } from './later-process.ts'
import { type PackedError, unpackedError } from './packed-errors.ts'

type Uses = {
  dataDir: string
  /** Bytes that stay free on its disk. */
  reserve: number
  master: Pick<MasterKeys, 'secret' | 'rings'>
  events: Pick<EventStore, 'head' | 'distance'>
  timePassed(time: number): Promise<void>
  log: Log
}

/** How often the process receives the log's end while it has no requests. */
const tellMs = 1_000
/** The largest heap of the process. */
const heapMb = 1_024
/** In a smaller one, the objects of a replay live long enough to be copied. */
const semiSpaceMb = 32
/** How long its end is waited for. */
const endMs = 8_000
/** When a failed start of a process is retried. */
const notStartedMs = 1_000
/** A process that has lived for so long did not fail at its start. */
const soundMs = 60_000

/** After so many in a row its views are taken to be what kills it, and are folded anew. */
const failuresOfViews = 3

const script = new URL('./later-process.js', import.meta.url)
const names = projectionsAt('later').map(({ name }) => name)

const tooLate = () => new StoreUnavailable('the process for audits has ended')

type Running = { child: ChildProcess; calls: Calls; up: Deferred<void>; isUp: boolean }

/**
 * The read models that are folded later, folded and read in a process of their own: whatever is
 * read there, the serving thread does not wait, and its memory is not used. The process starts when
 * there is something to fold or to read. One that dies is started again; what was asked of it
 * fails.
 */
export const laterApart = (uses: Uses): Later => {
  const { dataDir, reserve, master, events, timePassed, log } = uses
  let states: ProjectionState[] = names.map((name) => ({
    name,
    position: START,
    state: 'running',
  }))
  let damage: readonly Damage[] = []
  let running: Running | undefined
  let failures = 0
  let restart: NodeJS.Timeout | undefined
  let waitingForIt: Deferred<Running>
  const renewWaiting = () => {
    waitingForIt = deferred()
    waitingForIt.promise.catch(() => undefined)
  }
  renewWaiting()
  let closing = false
  let announced = START

  const ring = (): PlainRing => {
    const { wrap, other } = master.rings.now()
    return { wrap: wrap.export(), other: other?.export() }
  }

  const taken = (told: LaterMessage, one: Running) => {
    const { up, calls } = one
    if ('up' in told) {
      one.isUp = true
      up.resolve()
    } else if ('wants' in told) calls.note('ring', ring()).catch(() => undefined)
    else if ('log' in told) log[told.log](told.fields, told.text)
    else if ('states' in told) {
      damage = told.damage
      states = told.states.map(({ name, position, error }) => ({
        name,
        position,
        ...(error ? { state: 'stopped', error: unpackedError(error) } : { state: 'running' }),
      }))
    }
  }

  const gone = (one: Running, began: number, why: string) => {
    if (running !== one) return
    running = undefined
    announced = START
    const error = tooLate()
    one.up.reject(error)
    one.calls.fail(error)
    if (closing) return
    failures = performance.now() - began > soundMs ? 0 : failures + 1
    log.error({ why, failures }, 'the process for audits has ended and is started again')
    beginAgain(error, backOff(failures))
  }

  const beginAgain = (error: Error, afterMs: number) => {
    states = states.map(({ name }) => ({ name, position: START, state: 'stopped', error }))
    restart = setTimeout(async () => {
      const head = await events.head().catch(() => START)
      restart = undefined
      if (!closing) begin(head)
    }, afterMs)
  }

  /** Pending calls are refused: file handles or memory may be missing for long. */
  const notStarted = (err: Error) => {
    if (closing) return
    log.error({ err }, 'the process for audits could not be started and is tried again')
    const error = new StoreUnavailable('the process for audits cannot be started', { cause: err })
    waitingForIt.reject(error)
    renewWaiting()
    beginAgain(error, notStartedMs)
  }

  const begin = (head: Position) => {
    const options: ForkOptions = {
      execArgv: [
        `--max-old-space-size=${heapMb}`,
        `--max-semi-space-size=${semiSpaceMb}`,
        // As in the serving process: short-lived objects are not allocated in the old generation.
        '--no-allocation-site-pretenuring',
        '--expose-gc',
      ],
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    }
    const child = startProcess(script, options, notStarted)
    if (!child) return
    const port = {
      postMessage: (message: unknown) => void child.send(message as Serializable, () => {}),
    }
    const calls = callsOver(port, (error) => unpackedError(error as PackedError))
    const one: Running = { child, calls, up: deferred(), isUp: false }
    one.up.promise.catch(() => undefined)
    const began = performance.now()
    child
      .on('message', (message) => {
        if (!calls.take(message)) taken(message as LaterMessage, one)
      })
      .on('error', (error) => gone(one, began, String(error)))
      .once('exit', (code, signal) => gone(one, began, `${signal ?? `exit code ${code}`}`))
    running = one
    const fresh = failures === failuresOfViews
    const { secret } = master
    const first: LaterBegin = { dataDir, reserve, secret, ring: ring(), head, fresh }
    announced = head
    port.postMessage(first)
    waitingForIt.resolve(one)
    renewWaiting()
  }

  /**
   * The process, once it knows of everything that is in the log by now. @throws StoreUnavailable
   */
  const informed = async (): Promise<Calls> => {
    const head = await events.head()
    if (closing) throw tooLate()
    if (!running && !restart) begin(head)
    const { calls, up } = running ?? (await waitingForIt.promise)
    await up.promise
    if (head > announced) {
      announced = head
      calls.note('announce', { head }).catch(() => undefined)
    }
    return calls
  }

  const telling = setInterval(async () => {
    if ((await events.head().catch(() => START)) > announced)
      await informed().catch(() => undefined)
  }, tellMs).unref()

  const at = (name: string): Position => states.find((one) => one.name === name)?.position ?? START

  const checkpoint = (): Position => {
    const going = states.filter(({ state }) => state === 'running')
    const [first, ...others] = (going.length > 0 ? going : states).map(({ position }) => position)
    return first === undefined ? START : earliest(first, ...others)
  }

  const waitForPosition: Projecting['waitForPosition'] = async (
    position,
    timeoutMs,
    views = names,
  ) => {
    if (views.every((view) => at(view) >= position)) return true
    const late = pause(timeoutMs, false, { ref: false })
    const asked = informed().then(
      (calls) => calls.note('waitForPosition', { position, timeoutMs, views }),
      () => false,
    )
    return (await Promise.race([asked.catch(() => false), late])) === true
  }

  const answer = async (name: string, asked: unknown) => (await informed()).answer(name, asked)
  const stream = async (name: string, asked: unknown) => (await informed()).stream(name, asked)

  const projecting: Projecting = {
    at,
    checkpoint,
    waitForPosition,
    lag: async () => events.distance(checkpoint(), await events.head()),
    holds: () => true,
    state: () => states,
    async rebuild(view, progress = () => undefined) {
      const { parts } = await stream('rebuild', { view })
      for await (const part of parts) progress(part as Progress)
    },
    async stop() {
      clearInterval(telling)
      clearTimeout(restart)
      closing = true
      if (!running) return waitingForIt.reject(tooLate())
      const { child, calls, isUp } = running
      const ended = once(child, 'exit')
      // What it is told before it listens is lost; nothing is folded by then.
      if (!isUp) {
        child.kill('SIGKILL')
        await ended
        return
      }
      const head = await events.head().catch(() => START)
      calls.note('close', { head }).catch(() => undefined)
      const late = pause(endMs, 'late', { ref: false })
      if ((await Promise.race([ended, late])) !== 'late') return
      log.warn({}, 'the process for audits did not end in time')
      child.kill('SIGKILL')
      await ended
    },
  }

  type Answers = AuditReads['answers']
  type Streams = AuditReads['streams']
  const asking =
    <Name extends keyof Answers>(name: Name) =>
    (asked: Parameters<Answers[Name]>[0]) =>
      answer(name, asked) as ReturnType<Answers[Name]>
  const streaming =
    <Name extends keyof Streams>(name: Name) =>
    (asked: Parameters<Streams[Name]>[0]) =>
      stream(name, asked) as Promise<Parts> as ReturnType<Streams[Name]>
  const share = sharedItems()
  /** Bytes come as plain ones. */
  const bytes = async (made: Promise<Uint8Array>) => Buffer.from(await made)
  const timed = async (...moments: readonly { time?: number | undefined }[]) => {
    for (const { time } of moments) if (time !== undefined) await timePassed(time)
  }

  return {
    projecting,
    reads: {
      answers: {
        events: asking('events'),
        async state(asked) {
          await timed(asked.moment)
          return asking('state')(asked)
        },
        async changes(asked) {
          await timed(asked.from, asked.to)
          return asking('changes')(asked)
        },
        usage: asking('usage'),
        checkpoint: asking('checkpoint'),
        tile: (asked) => bytes(asking('tile')(asked)),
        entries: (asked) => bytes(asking('entries')(asked)),
        inclusion: asking('inclusion'),
        consistency: asking('consistency'),
      },
      streams: {
        eventLines: streaming('eventLines'),
        async stateLines(asked) {
          await timed(asked.moment)
          return streaming('stateLines')(asked)
        },
        exportLines: streaming('exportLines'),
        async snapshot(asked) {
          const { head, parts } = await streaming('snapshot')(asked)
          return { head, parts: sharedBatches(parts, share) }
        },
        touched: streaming('touched'),
      },
    },
    documents: {
      load: async (view, ids) =>
        (await informed()).note('load', { view, ids }) as Promise<Map<string, Document>>,
      checkpoint: async (view) =>
        (await informed()).note('checkpoint', { view }) as Promise<Position>,
    },
    forget(name) {
      running?.calls.note('forget', { name }).catch(() => undefined)
    },
    damage: () => damage,
  }
}
