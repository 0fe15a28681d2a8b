import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchAgents } from './agents.ts'
import { benchAppend } from './append.ts'
import { benchAttacks } from './attacks.ts'
import { benchAudit } from './audit.ts'
import type { Section } from './bench.ts'
import { benchBudget } from './budget.ts'
import { benchChat } from './chat.ts'
import { benchEventStoreDb } from './event-store-db.ts'
import { benchFollowers } from './followers.ts'
import { benchHistory } from './history.ts'
import { benchLongReads } from './long-reads.ts'
import { type Measured, tableOf } from './measured.ts'
import { moveToLoadCore } from './processes.ts'
import { benchRetrieval } from './retrieval.ts'
import { benchRuns } from './runs.ts'
import { benchStored } from './stored.ts'
import { benchStreams } from './streams.ts'
import { benchTurns } from './turns.ts'
import { benchUpstream } from './upstream.ts'
import { benchViews } from './views.ts'

const sections: Readonly<Record<string, Section>> = {
  budget: benchBudget,
  append: benchAppend,
  views: benchViews,
  chat: benchChat,
  streams: benchStreams,
  upstream: benchUpstream,
  agents: benchAgents,
  turns: benchTurns,
  runs: benchRuns,
  stored: benchStored,
  retrieval: benchRetrieval,
  audit: benchAudit,
  history: benchHistory,
  followers: benchFollowers,
  'long-reads': benchLongReads,
  attacks: benchAttacks,
  eventstoredb: benchEventStoreDb,
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** The commit, with a mark where what ran is not what it holds. */
const commit = (): string => {
  const hash = git('rev-parse', '--short', 'HEAD')
  const changed = git('status', '--porcelain', '--', 'src', 'commands', 'queries', 'projections')
  return changed === '' ? hash : `${hash}-changed`
}

const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  load: loadavg()[0] ?? 0,
  node: process.version,
})

const report = (results: readonly Measured[], on: ReturnType<typeof machine>, name: string) =>
  [
    `# ${name}`,
    '',
    `${on.cpu}, ${on.cores} cores (server on one, load on another), node ${on.node}; load average`,
    `${on.load.toFixed(2)} when it began.`,
    '',
    tableOf(results),
    '',
  ].join('\n')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** A directory for CPU profiles of the servers. */
    profile: { type: 'string' },
    /** Where results go; `local-` names are not committed. */
    name: { type: 'string' },
  },
})
const wanted = positionals.length > 0 ? positionals : Object.keys(sections)
const unknown = wanted.filter((name) => !Object.hasOwn(sections, name))
if (unknown.length > 0)
  throw new Error(`no section ${unknown.join(', ')}; there are ${Object.keys(sections).join(', ')}`)

const on = machine()
moveToLoadCore()
const dir = mkdtempSync(join(tmpdir(), 'reprise-bench-'))
const results: Measured[] = []
try {
  for (const name of wanted) {
    process.stderr.write(`${name} …\n`)
    results.push(...((await sections[name]?.({ dir, profile: values.profile })) ?? []))
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}

const isFullRun = positionals.length === 0
const date = new Date().toISOString().slice(0, 10)
const name = values.name ?? `${isFullRun ? '' : 'local-'}${date}-${commit()}`
const file = join('bench', 'results', name)
mkdirSync(join('bench', 'results'), { recursive: true })
writeFileSync(`${file}.json`, `${JSON.stringify({ name, machine: on, results }, null, 2)}\n`)
writeFileSync(`${file}.md`, report(results, on, name))
process.stdout.write(`${tableOf(results)}\n\n${file}.md\n`)
