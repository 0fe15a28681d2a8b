import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contents, user } from '../support/client.ts'
import { reprise } from '../support/reprise.ts'
import { startServer } from '../support/server.ts'

t.setTimeout(120_000)

const run = promisify(execFile)

const noTar = spawnSync('tar', ['--version']).status === 0 ? {} : { skip: 'no tar here' }

// A data folder written by the version of 22 November 2026, 11:55, as its backup had it: the demo
// organization, three turns, a picture and a memory. Beside it, the key of its organization.
const backup = 'test/fixtures/data-of-2026-11-22.tar.gz'

t.test('a newer version opens the data of an older one', noTar, async (t) => {
  const DATA_DIR = t.testdir()
  await run('tar', ['-xSzf', backup, '-C', DATA_DIR])
  const server = await startServer(t, { DATA_DIR, DEMO: 'on' })
  const key = () => server.as(readFileSync(join(DATA_DIR, 'key'), 'utf8'))
  const [question, answer = ''] = await contents(key(), 'tour')
  t.equal(question, 'How many days of leave are there?')
  t.match(answer, /28 days of paid leave/)

  const { body: content } = await key().ask('GET', '/api/external/content')
  t.match(content.items, [{ status: 'completed', prompt: 'Draw a picture of a tree' }])
  t.match(await (await fetch(content.items[0].storage_url)).text(), /<svg/)

  const again = await key().chat({
    session_id: 'kept',
    messages: user('What do you remember about my train?'),
  })
  t.match(again.body.choices[0].message.content, /my train leaves at 9:14/)
  t.strictSame((await contents(key(), 'kept')).length, 4, 'an old session goes on')

  await server.stop()
  const { out } = await reprise('projections verify', { DATA_DIR })
  t.match(out, /messages: \d+ documents, as the log has them/)
})
