import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { logOutput } from '../../src/app/log-output.ts'
import { eventually } from '../support/eventually.ts'
import { serverScript } from '../support/server-script.ts'

t.test('lines are written whole and in order', async (t) => {
  const file = join(t.testdir(), 'log')
  const fd = openSync(file, 'w')
  t.teardown(() => closeSync(fd))
  const output = logOutput({ fd })
  const lines = Array.from({ length: 5_000 }, (_, n) => `line ${n} of ä log\n`)
  for (const line of lines) output.write(line)
  await output.flushed(10_000)
  t.equal(readFileSync(file, 'utf8'), lines.join(''))
  output.write('one more\n')
  await output.flushed(10_000)
  t.equal(readFileSync(file, 'utf8'), `${lines.join('')}one more\n`)
  t.equal(output.dropped(), 0)
  await output.flushed(10_000)
})

/** Both ends of a pipe. */
const newPipe = (t: Test) => {
  const path = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [path])
  const to = openSync(path, 'r+')
  const from = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => {
    closeSync(from)
  })
  return { to, from }
}

t.test('a pipe that is not read drops lines; once it is read, the others come', async (t) => {
  const { to, from } = newPipe(t)
  const output = logOutput({ fd: to, most: 100_000 })
  const line = `${'x'.repeat(999)}\n`
  for (let n = 0; n < 400; n++) output.write(line)
  await output.flushed(100)
  const dropped = output.dropped()
  t.ok(dropped >= 300, `${dropped} dropped`)

  const end = 'the end\n'
  let text = ''
  const bytes = Buffer.alloc(65_536)
  /** Reads what is there now. */
  const drain = () => {
    try {
      text += bytes.toString('utf8', 0, readSync(from, bytes))
    } catch (error) {
      t.match(error, { code: 'EAGAIN' })
    }
  }
  drain()
  output.write(end)
  const done = output.flushed(60_000)
  while (text.length < (400 - dropped) * line.length + end.length) {
    drain()
    await after(1)
  }
  await done
  t.ok(text === line.repeat(400 - dropped) + end)
  t.equal(output.dropped(), dropped)
})

t.test('a full disk drops lines', { skip: process.platform !== 'linux' }, async (t) => {
  const fd = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(fd))
  const output = logOutput({ fd })
  for (let n = 0; n < 100; n++) output.write(`${n}\n`)
  await output.flushed(10_000)
  t.equal(output.dropped(), 100)
  output.write('101\n')
  await output.flushed(10_000)
  t.equal(output.dropped(), 101)
})

const main = serverScript('main.js')

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

for (const [name, stdout] of [
  ['a pipe that is not read', 'pipe'],
  ['a full disk', '/dev/full'],
] as const)
  t.test(`the server answers while its output is ${name}, and stops in order`, async (t) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'reprise-'))
    t.teardown(() => rmSync(DATA_DIR, { recursive: true, force: true }))
    const port = await freePort()
    const fd = stdout === 'pipe' ? undefined : openSync(stdout, 'w')
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH ?? '', DATA_DIR, PORT: `${port}`, DEMO: 'off' },
      stdio: ['ignore', fd ?? 'pipe', 'inherit'],
    })
    if (fd !== undefined) closeSync(fd)
    const exit = once(child, 'exit')
    t.teardown(() => child.kill('SIGKILL'))
    const get = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { 'x-request-id': 'x'.repeat(120) },
      }).catch(() => undefined)
    while ((await get('/api/health'))?.status !== 200) await after(50)

    const dropped = async () => {
      const text = await (await get('/metrics'))?.text()
      return Number(/^reprise_log_lines_dropped_total (\d+)$/m.exec(text ?? '')?.[1])
    }
    do {
      const some = await Promise.all(Array.from({ length: 100 }, () => get('/api/health')))
      t.ok(some.every((reply) => reply?.status === 200))
      await Promise.all(some.map((reply) => reply?.arrayBuffer()))
    } while ((await dropped()) === 0)
    child.kill('SIGTERM')
    t.strictSame(await exit, [0, null])
  })

const noScript =
  spawnSync('script', ['--version']).status === 0 && process.platform === 'linux'
    ? {}
    : { skip: 'no script(1) of util-linux here' }

t.test(
  'a terminal that takes nothing keeps no server from answering and ending',
  noScript,
  async (t) => {
    const DATA_DIR = t.testdir()
    const [pid, code] = [join(DATA_DIR, 'pid'), join(DATA_DIR, 'code')]
    const port = await freePort()
    const command = `sh -c 'echo $$ >${pid}; exec ${process.execPath} ${main}'; echo $? >${code}`
    // Nothing reads its output: the terminal that it makes is soon full.
    const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
      env: { PATH: process.env.PATH ?? '', DATA_DIR, PORT: `${port}`, LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    terminal.stdout.pause()
    t.teardown(() => terminal.kill('SIGKILL'))
    const get = () => fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined)
    await eventually(get)
    for (let n = 0; n < 40; n++) {
      const some = await Promise.all(Array.from({ length: 100 }, get))
      t.ok(some.every((reply) => reply?.status === 200))
      await Promise.all(some.map((reply) => reply?.arrayBuffer()))
    }
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM')
    const readCode = async () => existsSync(code) && readFileSync(code, 'utf8')
    t.equal(await eventually(readCode), '0\n')
  },
)
