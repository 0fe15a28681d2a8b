import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { blobName, embeddedLog, fileEvents, rowsIn, rowsOf } from '../support/embedded-log.ts'
import { cli, reprise } from '../support/reprise.ts'
import { noSmallDisk, smallDisk } from '../support/small-disk.ts'

// Processes beside a busy machine.
t.setTimeout(120_000)

const key = 'session:org-1/s'

/** A log of many pages, and files. */
const largeLog = async (t: Parameters<typeof embeddedLog>[0]) => {
  const log = embeddedLog(t)
  log.together(() => {
    log.key(key, 'wrapped')
    for (let n = 0; n < 20_000; n++) log.append('session-org-1_s', [fileEvents.message(key)])
  })
  for (let n = 1; n <= 8; n++) await log.blob(blobName(n), Buffer.alloc(1_000_000, `${n}`))
  return log
}

/** Runs a command until it prints such a line, then kills it. */
const killedAt = async (line: RegExp, args: readonly string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(child, 'exit')
  const lines = createInterface(child.stderr)
  lines.on('line', (text) => line.test(text) && child.kill('SIGKILL'))
  // Its own process has ended too once nobody has the pipe open.
  const closed = once(lines, 'close')
  const [, signal] = await exit
  await closed
  return signal
}

t.test('a backup that is killed leaves no file under its name, and is made again', async (t) => {
  const log = await largeLog(t)
  const env = { DATA_DIR: log.dataDir }
  const file = join(log.target, 'backup')
  t.equal(await killedAt(/^events: [1-5]/, ['backup', '--out', file], env), 'SIGKILL')
  t.notOk(existsSync(file))
  const refused = await reprise(`backup --out ${file}`, env)
  t.match(refused, { code: 1, err: /backup.partial exists already: remove it/ })
  rmSync(`${file}.partial`)
  t.match(await reprise(`backup --out ${file}`, env), { code: 0 })
  t.match(await reprise(`restore --from ${file}`, { DATA_DIR: join(log.target, 'r') }), { code: 0 })
})

t.test('a restore that is killed is refused to a server, and is repeated', async (t) => {
  const log = await largeLog(t)
  const [file, dataDir] = [join(log.target, 'backup'), join(log.target, 'restored')]
  t.match(await reprise(`backup --out ${file}`, { DATA_DIR: log.dataDir }), { code: 0 })
  const env = { DATA_DIR: dataDir }
  t.equal(await killedAt(/^bytes: [2-9]/, ['restore', '--from', file], env), 'SIGKILL')
  t.strictSame(readdirSync(dataDir), ['restoring'])
  t.match(await reprise('serve', { ...env, PORT: '0' }), { code: 1, err: /RestoreUnfinished/ })
  t.strictSame(readdirSync(dataDir), ['restoring'])
  t.match(await reprise(`restore --from ${file}`, env), { code: 0 })
  t.strictSame(readdirSync(dataDir).toSorted(), ['blobs', 'log'])
  t.strictSame(await rowsIn(dataDir), rowsOf(log.db))
})

t.test(
  'a full disk ends a backup and a restore, which leave nothing',
  { skip: noSmallDisk() },
  async (t) => {
    const log = await largeLog(t)
    const disk = await smallDisk(t, 12)
    const reserve = { DISK_RESERVE_MB: '1' }
    const env = { DATA_DIR: log.dataDir, ...reserve }
    const [file, small] = [join(log.target, 'backup'), join(disk.path, 'backup')]
    const free = await disk.freeMb()
    const noSpace = { code: 1, err: /ENOSPC|too few to write/ }
    t.match(await reprise(`backup --out ${small}`, env, disk.by), noSpace)
    t.equal(await disk.freeMb(), free)
    t.match(await reprise(`backup --out ${file}`, env), { code: 0 })
    const into = { DATA_DIR: join(disk.path, 'data'), ...reserve }
    t.match(await reprise(`restore --from ${file}`, into, disk.by), noSpace)
    t.equal(await disk.freeMb(), free)
  },
)
