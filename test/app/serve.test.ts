import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { serverScript } from '../support/server-script.ts'

const main = serverScript('main.js')
const run = promisify(execFile)

const newFolder = (t: Test): string => {
  const path = mkdtempSync(join(tmpdir(), 'reprise-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The process on a folder of its own; `said` resolves with all output once it holds the text. */
const life = (t: Test, env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR: newFolder(t), PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.on('data', (bytes) => {
    out += bytes
  })
  child.stderr.on('data', (bytes) => {
    err += bytes
  })
  const closed = once(child, 'close')
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async said(text: string): Promise<string> {
      while (!out.includes(text)) {
        const isClosed = await Promise.race([once(child.stdout, 'data').then(() => false), closed])
        if (isClosed) throw new Error(`${text} was never said:\n${out}\n${err}`)
      }
      return out
    },
    async ended() {
      const [code, signal] = await closed
      return { code, signal, out, err }
    },
  }
}

const portOf = (server: Server): string => {
  const address = server.address()
  return typeof address === 'object' ? String(address?.port) : ''
}

const listeningServer = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** The curl commands in a greeting, as a newcomer would copy them, each after the exports. */
const curls = (greeting: string): string[] => {
  const exports = greeting.match(/^ {2}export .*$/gm) ?? []
  return [...greeting.matchAll(/^ {2}curl (?:.*\\\n)*.*$/gm)].map(([command]) =>
    [...exports, command].join('\n'),
  )
}

t.test('the greeting works as it is printed', async (t) => {
  const server = life(t)
  const greeting = await server.said('in a browser\n')
  const commands = curls(greeting)
  t.equal(commands.length, 3)
  for (const once of [
    /svc_live_\w+/g,
    /export REPRISE_ORGANIZATION=[\w-]{36}/g,
    /export REPRISE_URL=/g,
  ])
    t.equal(greeting.match(once)?.length, 1, String(once))
  t.match(greeting, /Reference: .*\n$/, 'it is the last thing on the screen')
  const [answer, streamed, events] = await Promise.all(
    commands.map(async (command) => (await run('sh', ['-c', command])).stdout),
  )
  t.match(JSON.parse(answer ?? ''), { object: 'chat.completion', usage: { total_tokens: Number } })
  t.match(streamed, /^id: .*\ndata: \{"id":"chatcmpl-/)
  t.match(streamed, /data: \[DONE\]\n\n$/)
  t.match(JSON.parse(events ?? ''), { events: [{ type: String }] })
  server.kill('SIGTERM')
  t.match(await server.ended(), { code: 0, err: '' })
})

t.test('a start says which model answers; only the first has a greeting', async (t) => {
  const DATA_DIR = newFolder(t)
  const canned =
    'offline/extractive answers: its answers are canned. Set LLM_BASE_URL and LLM_MODEL to connect a model'
  const first = life(t, { DATA_DIR })
  const greeting = await first.said('Reference: ')
  t.match(greeting, `"msg":"${canned}"`)
  t.match(greeting, `\n  ${canned}\n`, 'in the greeting too')
  t.match(greeting, 'svc_live_')
  first.kill('SIGINT')
  t.match(await first.ended(), { code: 0 })
  const url = 'http://127.0.0.1:1/v1'
  const second = life(t, { DATA_DIR, LLM_BASE_URL: url, LLM_MODEL: 'acme/large' })
  const logs = await second.said('"msg":"ready"')
  t.match(logs, '"msg":"acme/large answers"')
  t.notMatch(logs, 'canned')
  second.kill('SIGTERM')
  const { code, out } = await second.ended()
  t.equal(code, 0)
  t.notMatch(out, 'svc_live_')
})

/** A model provider that takes requests and never answers. */
const silentProvider = async (t: Test) => {
  const received = deferred<undefined>()
  const server = createHttpServer((request) => {
    request.resume()
    received.resolve(undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${portOf(server)}`, received: received.promise }
}

t.test(
  'a run under way keeps an orderly stop waiting; a second signal does not wait',
  async (t) => {
    const provider = await silentProvider(t)
    const server = life(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'mute' })
    const [command = ''] = curls(await server.said('Reference: '))
    const answer = run('sh', ['-c', command]).catch(() => undefined)
    await provider.received
    server.kill('SIGTERM')
    await server.said('"msg":"stopping"')
    server.kill('SIGINT')
    await server.said('"msg":"stopping at once"')
    const { code, out } = await server.ended()
    t.equal(code, 1)
    t.notMatch(out, '"msg":"stopped"')
    await answer
  },
)

t.test('a failed start prints one line on stderr', async (t) => {
  const failing = async (env: Record<string, string>, expected = 1) => {
    const { code, out, err } = await life(t, { DEMO: 'off', LOG_LEVEL: 'silent', ...env }).ended()
    t.equal(code, expected)
    t.equal(out, '')
    t.equal(err.trimEnd().split('\n').length, 1, err)
    return err
  }
  const occupant = await listeningServer()
  t.match(await failing({ PORT: portOf(occupant) }), /EADDRINUSE.*127\.0\.0\.1/)
  occupant.close()

  const DATA_DIR = newFolder(t)
  const holder = life(t, { DATA_DIR, DEMO: 'off' })
  await holder.said('"msg":"ready"')
  t.match(await failing({ DATA_DIR }), /^StoreInUse: .* is in use by process \d+/)
  holder.kill('SIGTERM')
  await holder.ended()

  const log = join(DATA_DIR, 'log')
  const [data = ''] = readdirSync(log).filter((name) => name.endsWith('data.mdb'))
  writeSync(openSync(join(log, data), 'r+'), Buffer.alloc(16_384, 7), 0, 16_384, 0)
  const damaged = /^StoreDamaged: .*data\.mdb is damaged, .*: restore a backup \(reprise restore\)/
  t.match(await failing({ DATA_DIR }, 3), damaged)

  const pem = join(newFolder(t), 'pem')
  writeFileSync(pem, 'not a certificate')
  t.match(await failing({ TLS_CERT: pem, TLS_KEY: pem }), /^ConfigInvalid: TLS_CERT, TLS_KEY: /)
  t.match(await failing({ TLS_CERT: '/nowhere', TLS_KEY: pem }), /ENOENT/)
})

t.test('a taken port costs nobody the key', async (t) => {
  const DATA_DIR = newFolder(t)
  const occupant = await listeningServer()
  t.match(await life(t, { DATA_DIR, PORT: portOf(occupant) }).ended(), { code: 1 })
  occupant.close()
  const server = life(t, { DATA_DIR })
  t.match(await server.said('Reference: '), 'svc_live_')
  server.kill('SIGTERM')
  t.match(await server.ended(), { code: 0 })
})

/** The most connections that the system holds for a server; 0 where it does not say. */
const most = '/proc/sys/net/core/somaxconn'
const held = existsSync(most) ? Number(readFileSync(most, 'utf8')) : 0

t.test(
  'a thousand connections are held while the server accepts none',
  { skip: held < 1_000 && 'the system holds fewer, or does not say' },
  async (t) => {
    const server = life(t)
    const [url = ''] = /http:[^"]+/.exec(await server.said('"msg":"ready"')) ?? []
    server.kill('SIGSTOP')
    const sockets = Array.from({ length: 1_000 }, () => connect(Number(new URL(url).port)))
    t.teardown(() => {
      for (const socket of sockets) socket.destroy()
    })
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    t.pass('all are connected')
    server.kill('SIGCONT')
  },
)

t.test('a server that is ready has written so, whatever ends it then', async (t) => {
  const module = new URL('../../src/app/serve.js', import.meta.url)
  const program = `import { serve } from '${module}'; await serve(process.env); process.reallyExit()`
  const args = ['--input-type=module', '-e', program]
  const env = { DATA_DIR: newFolder(t), HOST: '127.0.0.1', PORT: '0', DEMO: 'off' }
  const { stdout } = await run(process.execPath, args, { env })
  t.match(stdout, /"msg":"ready"}\n$/)
})
