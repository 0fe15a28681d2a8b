import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { v7 as uuid } from 'uuid'
import { serverOptions } from '../../bench/processes.ts'
import { app } from '../../src/app/app.ts'
import { configFrom } from '../../src/config.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { client } from './client.ts'
import { platform, superAdminKey } from './platform.ts'
import { providerDouble, type Reply } from './provider-double.ts'
import { quickStart, serverProcess } from './server-script.ts'

type Env = Record<string, string>

/** Where a test, or a benchmark, leaves what is to be closed at its end. */
export type Owner = Pick<Test, 'teardown'>

/** Gone after whatever a test opens in it. */
export const newFolder = async (t: Owner) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  // The process for audits of a killed server writes until it notices.
  t.teardown(() => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return path
}

const settings = (path: string, env: Env): Env => ({
  DATA_DIR: path,
  HOST: '127.0.0.1',
  PORT: '0',
  SUPER_ADMIN_KEY: superAdminKey,
  LOG_LEVEL: 'info',
  DEMO: 'off',
  ...env,
})

const ready = /"url":"(?<url>http:[^"]+)","msg":"ready"/

type Start = {
  /** A command, such as `nsenter`, that starts it. */
  by?: readonly string[]
  /** Options of node, besides those of `npm start`. */
  options?: readonly string[]
}

/** One life of the server in a child process. `onStart` gets the process before it is ready. */
const oneLife = async (
  env: Env,
  { by = [], options = quickStart }: Start,
  onStart: (child: ChildProcess) => void,
) => {
  const { script, env: own } = serverProcess(env)
  const [command = '', ...rest] = [...by, process.execPath, ...serverOptions, ...options, script]
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH ?? '', ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onStart(child)
  let output = ''
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  const url = await new Promise<string>((resolve, reject) => {
    const read = (bytes: Buffer) => {
      output += bytes
      const serverUrl = ready.exec(output)?.groups?.url
      if (serverUrl) resolve(serverUrl)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void exit.then(([code, signal]) => {
      const how = signal ?? `exit code ${code}`
      reject(new Error(`the server did not start (${how}):\n${output}`))
    })
  })
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const [code] = await exit
    return code
  }
  return {
    url,
    /** Its process id. */
    pid: child.pid ?? 0,
    gone: exit,
    end,
    output: () => output,
    /** Nothing is read of what it prints, until that is called which this answers. */
    stallOutput: () => {
      child.stdout.pause()
      return () => child.stdout.resume()
    },
  }
}

/** A process for audits would cost each test a second; tests of it ask for it. */
const inTests = { positionGap: 7, rightsLookMs: 100, laterApart: false }

/** The real process on a data folder of its own; gone when the test ends. */
export const startServer = async (t: Owner, env: Env = {}, start: Start = {}) => {
  const all = settings(await newFolder(t), env)
  let child: ChildProcess | undefined
  const next = () =>
    oneLife(all, start, (started) => {
      child = started
    })
  let life = await next()
  t.teardown(() => life.end('SIGKILL'))
  return {
    get url() {
      return life.url
    },
    get platform() {
      return platform(life.url)
    },
    get pid() {
      return life.pid
    },
    output: () => life.output(),
    stallOutput: () => life.stallOutput(),
    /** The same key on the server as it is now, after a restart, say. */
    as: (key: string) => client(life.url, key),
    /** SIGTERM; answers the exit code. */
    stop: () => life.end('SIGTERM'),
    kill9: () => life.end('SIGKILL'),
    /** Resolves with the exit code once the process has ended by itself. */
    ended: () => life.gone.then(([code]) => code),
    /** The id of the present process, which may not be ready yet. */
    startingPid: () => child?.pid ?? 0,
    /** Kills the present process, which may not be ready yet. */
    crash: () => child?.kill('SIGKILL'),
    path: all.DATA_DIR ?? '',
    /** Another life on the same data, in an environment that is changed from here on. */
    async restart(env: Env = {}) {
      Object.assign(all, env)
      life = await next()
    },
  }
}

export type StartedServer = Awaited<ReturnType<typeof startServer>>

/** The system's clock: `advance` lets time pass, `step` moves wall time alone. */
export const movableClock = (): Clock & { advance(ms: number): void; step(ms: number): void } => {
  let passed = 0
  let stepped = 0
  return {
    now: () => new Date(Date.now() + passed + stepped),
    monotonic: () => performance.now() + passed,
    id: () => uuid(),
    advance: (ms) => {
      passed += ms
    },
    step: (ms) => {
      stepped += ms
    },
  }
}

type Options = Partial<Omit<Parameters<typeof app>[1], 'log'>>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The application in this process, listening on loopback. */
export const startApp = async (t: Test, env: Env = {}, options: Options = {}) => {
  const all = settings(await newFolder(t), env)
  let config = configFrom(all)
  const log = pino({ level: 'silent' })
  const open = async () => {
    const running = await app(config, { ...inTests, log, ...options })
    await running.recover()
    const url = await running.http.listen({ host: '127.0.0.1', port: 0 })
    return { ...running, url }
  }
  let life = await open()
  let closed = false
  const stop = async () => {
    if (!closed) await life.close()
    closed = true
  }
  t.teardown(stop)
  /** Requests with a key that take no network: status, body and code of a refusal. */
  const clientOf =
    (key: string, headers: Record<string, string> = {}) =>
    async (method: Method, url: string, payload?: object) => {
      const reply = await life.http.inject({
        method,
        url,
        headers: { 'x-api-key': key, ...headers },
        ...(payload ? { payload } : {}),
      })
      return {
        status: reply.statusCode,
        code: reply.headers['x-error-code'],
        body: reply.body ? reply.json() : undefined,
      }
    }
  return {
    get url() {
      return life.url
    },
    get platform() {
      return platform(life.url)
    },
    get http() {
      return life.http
    },
    clientOf,
    asPlatform: clientOf(superAdminKey),
    /** Every route, as fastify draws them. */
    drawnRoutes: () => life.http.printRoutes({ commonPrefix: false }),
    /** Closed as by SIGTERM. */
    stop,
    tick: () => life.tick(),
    demo: () => life.demo(),
    as: (key: string) => client(life.url, key),
    /**
     * Closed as by SIGTERM, and started again on the same data, with other settings where given.
     */
    async restart(other: Env = {}) {
      await life.close()
      config = configFrom({ ...all, ...other })
      life = await open()
      closed = false
    },
  }
}

export type StartedApp = Awaited<ReturnType<typeof startApp>>

/** The application over a scripted provider, with an organization and one of its keys. */
export const startChat = async (t: Test, reply?: Reply, options?: Options, env: Env = {}) => {
  const provider = await providerDouble(reply)
  t.teardown(provider.close)
  const model = { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' }
  const server = await startApp(t, { ...model, ...env }, options)
  const organization = await server.platform.organization()
  return { provider, server, organization, key: await organization.key() }
}
