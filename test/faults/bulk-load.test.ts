import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { storeSessions } from '../../bench/sessions.ts'
import { makeTenants, openWriting } from '../../bench/tenants.ts'
import { eventually } from '../support/eventually.ts'
import { cli, reprise } from '../support/reprise.ts'
import { startServer } from '../support/server.ts'

/** Together more than a bulk load holds before it writes: it is cut off with some of it written. */
const sessions = 1_500
const answer = 'All of it. '.repeat(3_000)

t.setTimeout(300_000)

/** A data folder with a log of some 100 MB and no views. */
const filled = async (t: Test): Promise<string> => {
  const path = t.testdir()
  const writing = await openWriting(path)
  const tenants = await makeTenants(writing, 20)
  await storeSessions(writing, tenants, sessions, (n) => 1 + (n % 2), answer)
  await writing.close()
  for (const views of ['views', 'views-later'])
    await rm(join(path, views), { recursive: true, force: true })
  return path
}

const verified = async (t: Test, DATA_DIR: string, names: readonly string[], when: string) => {
  for (const name of names) {
    const { code, out, err } = await reprise(`projections verify ${name}`, { DATA_DIR })
    t.match({ code, out, err }, { code: 0, out: 'as the log has them' }, `${name} ${when}`)
  }
}

/** Rebuilds all read models and is killed when it is so far; less than a tenth is not told. */
const killedAt = async (DATA_DIR: string, least: number): Promise<void> => {
  const child = spawn(process.execPath, [cli, 'projections', 'rebuild'], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(child, 'exit')
  let output = ''
  child.stderr.on('data', (bytes) => {
    output += bytes
    const percent = Number(/.*all: (\d+) %/s.exec(output)?.[1] ?? 0)
    if (percent >= least) child.kill('SIGKILL')
  })
  await exit
}

t.test(
  'a bulk load that is killed leaves views that are right, and goes on or begins anew',
  async (t) => {
    const path = await filled(t)
    const server = await startServer(t, { DATA_DIR: path })
    const viewsFile = join(path, 'views', 'data.mdb')
    await eventually(async () => (await stat(viewsFile)).size > 4 * 1024 * 1024)
    await server.kill9()
    await verified(t, path, ['sessions'], 'after a start with empty views was killed')
    await server.restart()
    t.equal(await server.stop(), 0)

    t.equal((await reprise('projections rebuild', { DATA_DIR: path })).code, 0)
    await killedAt(path, 50)
    await verified(t, path, ['sessions', 'transparency'], 'after a rebuild was killed')
    t.equal((await reprise('projections rebuild', { DATA_DIR: path })).code, 0)
    await verified(t, path, ['messages'], 'after the rebuild that follows')
    const { out } = await reprise('projections list', { DATA_DIR: path })
    for (const line of out.trim().split('\n').slice(1)) t.match(line, / 0 events +idle$/)
  },
)
