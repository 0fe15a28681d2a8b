import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projections, readModels } from '../../projections/all.ts'

/** Files of the folder that are no read model. */
const others = new Set(['agent-tools', 'all', 'durations', 'fields', 'projection'])

const namesIn = (folder: string, end: string) =>
  readdirSync(folder).flatMap((file) => (file.endsWith(end) ? [file.slice(0, -end.length)] : []))

t.test('every projection is run, and has a test', async (t) => {
  const files = namesIn('projections', '.ts').filter((name) => !others.has(name))
  t.equal(files.length, projections.length)
  t.equal(new Set(projections.map(({ name }) => name)).size, projections.length)
  const tests = new Set(namesIn(join('test', 'projections'), '.test.ts'))
  t.strictSame(
    files.filter((name) => !tests.has(name)),
    [],
  )
})

t.test(
  'views of no organization, of the log, of open work and of lists are not published',
  async (t) => {
    const hidden = projections.map(({ name }) => name).filter((name) => !readModels.has(name))
    t.strictSame(hidden, [
      'account_changes',
      'accounts',
      'agent_summaries',
      'console_sessions',
      'event_index',
      'forks',
      'identities',
      'platform_transparency',
      'run_steps',
      'run_summaries',
      'storage',
      'transparency',
      'unreadable_events',
      'users',
    ])
  },
)
