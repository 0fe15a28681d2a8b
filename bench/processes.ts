import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Servers have this core to themselves, load generators and upstreams the other. */
export const serverCore = 0
export const loadCore = Math.min(1, availableParallelism() - 1)

const startWithinMs = 60_000
const lookEveryMs = 5

type Script = {
  /** Compiled, relative to this file; or a URL. */
  script: string
  args?: readonly string[]
  /** What answers once it is up. */
  health?: string
  env?: Record<string, string>
  core?: number | 'any' | undefined
  /** A directory for CPU profiles. */
  profile?: string | undefined
  /** Whether it has something to say on an IPC channel. */
  listening?: boolean
  /** Loaded before it: compiled, relative to this file. */
  preload?: string | undefined
  /** Options of node. */
  options?: readonly string[]
}

const scriptPath = (script: string): string => fileURLToPath(new URL(script, import.meta.url))

/** Moves this process, with all its threads, to the load generators' core. */
export const moveToLoadCore = (): void => {
  execFileSync('taskset', ['-acp', String(loadCore), String(process.pid)])
}

/** A node process on a core of its own. */
export const launch = ({
  script,
  args: given = [],
  env = {},
  core = serverCore,
  profile,
  listening = false,
  preload,
  options = [],
}: Script): ChildProcess => {
  const flags = [...options]
  if (profile) flags.push('--cpu-prof', `--cpu-prof-dir=${profile}`)
  if (preload) flags.push('--import', scriptPath(preload))
  const bound = core === 'any' ? [] : ['taskset', '-c', String(core)]
  const [command = '', ...args] = [
    ...bound,
    process.execPath,
    ...flags,
    scriptPath(script),
    ...given,
  ]
  return spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', ...(listening ? (['ipc'] as const) : [])],
  })
}

const freePort = async (): Promise<number> => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const address = holder.address()
  holder.close()
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}

/** CPU time of all threads of a process, in seconds. */
const cpuOf = (pid: number): number => {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(
      readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0],
    )
  return nanoseconds / 1e9
}

/** Resident memory, mapped files included, in MB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const isUp = (url: string): Promise<boolean> =>
  fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.ok
    },
    () => false,
  )

/** A server that is listening: its health answers. `startedMs` is how long that took. */
export const serve = async (script: Script) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { health = '/api/health', args = [] } = script
  const start = performance.now()
  const child = launch({
    ...script,
    args: [...args, `--port=${port}`],
    env: { ...script.env, PORT: String(port) },
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${script.script} cannot be started`)
  while (!(await isUp(url + health))) {
    if (child.exitCode !== null) throw new Error(`${script.script} ended with ${child.exitCode}`)
    if (performance.now() - start > startWithinMs) throw new Error(`${script.script} is not up`)
    await after(lookEveryMs)
  }
  return {
    url,
    child,
    startedMs: performance.now() - start,
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    async stop(): Promise<void> {
      if (child.exitCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    },
  }
}

export type Serving = Awaited<ReturnType<typeof serve>>

/** What `npm start` gives node, but for source maps. */
export const serverOptions = [
  '--max-semi-space-size=32',
  '--heap-growing-percent=50',
  '--no-allocation-site-pretenuring',
]

/** What the image sets for glibc, so that freed memory goes back to the system. */
export const allocatorSettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** The product on a data directory, as `npm start` runs it but for the demo. */
export const serveProduct = (
  dataDir: string,
  { env = {}, profile, preload, core }: Pick<Script, 'env' | 'profile' | 'preload' | 'core'> = {},
) =>
  serve({
    script: '../src/main.js',
    options: serverOptions,
    profile,
    preload,
    core,
    listening: preload !== undefined,
    env: {
      DATA_DIR: dataDir,
      DEMO: 'off',
      LOG_LEVEL: 'info',
      ...env,
    },
  })
