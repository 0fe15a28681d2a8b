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
import type { LaterMessage, LaterSetup, PlainRing } from './later-process.ts'
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

  const receive = (message: LaterMessage, sender: Running) => {
    const { up, calls } = sender
    if ('up' in message) {
      sender.isUp = true
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

  const handleEnd = (previous: Running, startedAt: number, why: string) => {
    if (running !== previous) return
    running = undefined
    announced = START
    const error = tooLate()
    previous.up.reject(error)
    previous.calls.fail(error)
    if (closing) return
    failures = performance.now() - startedAt > soundMs ? 0 : failures + 1
    log.error({ why, failures }, 'the process for audits has ended and is started again')
    startAgain(error, backOff(failures))
  }

  const startAgain = (error: Error, afterMs: number) => {
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
    startAgain(error, notStartedMs)
  }

  const start = (head: Position) => {
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
    const started: Running = { child, calls, up: deferred(), isUp: false }
    started.up.promise.catch(() => undefined)
    const startedAt = performance.now()
    child
      .on('message', (message) => {
        if (!calls.take(message)) receive(message as LaterMessage, started)
      })
      .on('error', (error) => handleEnd(started, startedAt, String(error)))
      .once('exit', (code, signal) =>
        handleEnd(started, startedAt, `${signal ?? `exit code ${code}`}`),
      )
    running = started
    const fresh = failures === failuresOfViews
    const { secret } = master
    const setup: LaterSetup = { dataDir, reserve, secret, ring: ring(), head, fresh }
    announced = head
    port.postMessage(setup)
    waitingForIt.resolve(started)
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

  const announcing = setInterval(async () => {
    if ((await events.head().catch(() => START)) > announced)
      await informed().catch(() => undefined)
  }, tellMs).unref()

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
    const passed = informed().then(
      (calls) => calls.note('waitForPosition', { position, timeoutMs, views }),
      () => false,
    )
    return (await Promise.race([passed.catch(() => false), late])) === true
  }

  const answer = async (name: string, query: unknown) => (await informed()).answer(name, query)
  const stream = async (name: string, query: unknown) => (await informed()).stream(name, query)

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
      clearInterval(announcing)
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
  const answerOf =
    <Name extends keyof Answers>(name: Name) =>
    (query: Parameters<Answers[Name]>[0]) =>
      answer(name, query) as ReturnType<Answers[Name]>
  const streamOf =
    <Name extends keyof Streams>(name: Name) =>
    (query: Parameters<Streams[Name]>[0]) =>
      stream(name, query) as Promise<Parts> as ReturnType<Streams[Name]>
  const share = sharedItems()
  /** Bytes come as plain ones. */
  const bytes = async (plain: Promise<Uint8Array>) => Buffer.from(await plain)
  const passTimes = async (...moments: readonly { time?: number | undefined }[]) => {
    for (const { time } of moments) if (time !== undefined) await timePassed(time)
  }

  return {
    projecting,
    reads: {
      answers: {
        events: answerOf('events'),
        async state(query) {
          await passTimes(query.moment)
          return answerOf('state')(query)
        },
        async changes(query) {
          await passTimes(query.from, query.to)
          return answerOf('changes')(query)
        },
        charges: answerOf('charges'),
        usage: answerOf('usage'),
        runs: answerOf('runs'),
        run: answerOf('run'),
        checkpoint: answerOf('checkpoint'),
        tile: (query) => bytes(answerOf('tile')(query)),
        entries: (query) => bytes(answerOf('entries')(query)),
        inclusion: answerOf('inclusion'),
        consistency: answerOf('consistency'),
      },
      streams: {
        eventLines: streamOf('eventLines'),
        async stateLines(query) {
          await passTimes(query.moment)
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
      /** Infinite while the process is not up: whoever looks for old read models looks again. */
      async version(view) {
        if (!running?.isUp) return Number.POSITIVE_INFINITY
        const version = running.calls.note('version', { view }) as Promise<number>
        return version.catch(() => Number.POSITIVE_INFINITY)
      },
    },
    forget(name) {
      running?.calls.note('forget', { name }).catch(() => undefined)
    },
    damage: () => damage,
  }
}
