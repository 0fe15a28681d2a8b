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
import type { LaterBegin, LaterTold, PlainRing } from './later-process.ts'
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

/** How often the process learns of new events that no call has announced; they gather meanwhile. */
const announceMs = 1_000
/** The largest heap of the process. */
const heapMb = 1_024
/** In a smaller young generation, objects of a replay in progress would survive and be copied. */
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

  const handleMessage = (message: LaterTold, worker: Running) => {
    const { up, calls } = worker
    if ('up' in message) {
      worker.isUp = true
      up.resolve()
    } else if ('wants' in message) calls.note('ring', ring()).catch(() => undefined)
    else if ('log' in message) log[message.log](message.fields, message.text)
    else if ('states' in message) {
      damage = message.damage
      states = message.states.map(({ name, position, error }) => ({
        name,
        position,
        ...(error ? { state: 'stopped', error: unpackedError(error) } : { state: 'running' }),
      }))
    }
  }

  const handleExit = (worker: Running, began: number, why: string) => {
    if (running !== worker) return
    running = undefined
    announced = START
    const error = tooLate()
    worker.up.reject(error)
    worker.calls.fail(error)
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
      if (!closing) start(head)
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

  const start = (head: Position) => {
    const options: ForkOptions = {
      execArgv: [
        `--max-old-space-size=${heapMb}`,
        `--max-semi-space-size=${semiSpaceMb}`,
        // As in the serving process: short-lived objects stay out of the old generation.
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
    const worker: Running = { child, calls, up: deferred(), isUp: false }
    worker.up.promise.catch(() => undefined)
    const began = performance.now()
    child
      .on('message', (message) => {
        if (!calls.take(message)) handleMessage(message as LaterTold, worker)
      })
      .on('error', (error) => handleExit(worker, began, String(error)))
      .once('exit', (code, signal) => handleExit(worker, began, `${signal ?? `exit code ${code}`}`))
    running = worker
    const fresh = failures === failuresOfViews
    const { secret } = master
    const first: LaterBegin = { dataDir, reserve, secret, ring: ring(), head, fresh }
    announced = head
    port.postMessage(first)
    waitingForIt.resolve(worker)
    renewWaiting()
  }

  /**
   * The process, once it knows of everything that is in the log by now. @throws StoreUnavailable
   */
  const informed = async (): Promise<Calls> => {
    const head = await events.head()
    if (closing) throw tooLate()
    if (!running && !restart) start(head)
    const { calls, up } = running ?? (await waitingForIt.promise)
    await up.promise
    if (head > announced) {
      announced = head
      calls.note('announce', { head }).catch(() => undefined)
    }
    return calls
  }

  const timer = setInterval(async () => {
    if ((await events.head().catch(() => START)) > announced)
      await informed().catch(() => undefined)
  }, announceMs).unref()

  const at = (name: string): Position =>
    states.find((state) => state.name === name)?.position ?? START

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
    const arrival = informed().then(
      (calls) => calls.note('waitForPosition', { position, timeoutMs, views }),
      () => false,
    )
    return (await Promise.race([arrival.catch(() => false), late])) === true
  }

  const answer = async (name: string, input: unknown) => (await informed()).answer(name, input)
  const stream = async (name: string, input: unknown) => (await informed()).stream(name, input)

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
      clearInterval(timer)
      clearTimeout(restart)
      closing = true
      if (!running) return waitingForIt.reject(tooLate())
      const { child, calls, isUp } = running
      const exit = once(child, 'exit')
      // What it is told before it listens is lost; nothing is folded by then.
      if (!isUp) {
        child.kill('SIGKILL')
        await exit
        return
      }
      const head = await events.head().catch(() => START)
      calls.note('close', { head }).catch(() => undefined)
      const late = pause(endMs, 'late', { ref: false })
      if ((await Promise.race([exit, late])) !== 'late') return
      log.warn({}, 'the process for audits did not end in time')
      child.kill('SIGKILL')
      await exit
    },
  }

  type Answers = AuditReads['answers']
  type Streams = AuditReads['streams']
  const answerTo =
    <Name extends keyof Answers>(name: Name) =>
    (query: Parameters<Answers[Name]>[0]) =>
      answer(name, query) as ReturnType<Answers[Name]>
  const streamOf =
    <Name extends keyof Streams>(name: Name) =>
    (query: Parameters<Streams[Name]>[0]) =>
      stream(name, query) as Promise<Parts> as ReturnType<Streams[Name]>
  const share = sharedItems()
  /** Bytes come as plain ones. */
  const bytes = async (array: Promise<Uint8Array>) => Buffer.from(await array)
  const timed = async (...moments: readonly { time?: number | undefined }[]) => {
    for (const { time } of moments) if (time !== undefined) await timePassed(time)
  }

  return {
    projecting,
    reads: {
      answers: {
        events: answerTo('events'),
        async state(query) {
          await timed(query.moment)
          return answerTo('state')(query)
        },
        async changes(query) {
          await timed(query.from, query.to)
          return answerTo('changes')(query)
        },
        usage: answerTo('usage'),
        checkpoint: answerTo('checkpoint'),
        tile: (query) => bytes(answerTo('tile')(query)),
        entries: (query) => bytes(answerTo('entries')(query)),
        inclusion: answerTo('inclusion'),
        consistency: answerTo('consistency'),
      },
      streams: {
        eventLines: streamOf('eventLines'),
        async stateLines(query) {
          await timed(query.moment)
          return streamOf('stateLines')(query)
        },
        exportLines: streamOf('exportLines'),
        async snapshot(query) {
          const { head, parts } = await streamOf('snapshot')(query)
          return { head, parts: sharedBatches(parts, share) }
        },
        touched: streamOf('touched'),
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
