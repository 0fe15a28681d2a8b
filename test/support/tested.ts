import { roots, type Sources } from './imports.ts'

/** Folders of tests of the system as a whole, or of programs for tests: they mirror no sources. */
const wholeSystem = [
  'browser/',
  'console/',
  'contract/',
  'contracts/',
  'docs/',
  'dotnet/',
  'faults/',
  'python/',
  'support/mutations/',
  'support/runner/',
]

/** Tests of files that they are not named after. */
export const together: Readonly<Record<string, readonly string[]>> = {
  'test/faults/resume.test.ts': [
    'commands/resume-run.ts',
    'src/turns/begin/stored-request.ts',
    'src/http/streams/followed-turn.ts',
  ],
  'test/commands/record-login.test.ts': ['commands/change-address.ts'],
  'test/http/routes/approvals.test.ts': ['queries/count-waiting-runs.ts'],
  'test/faults/limits.test.ts': ['src/turns/turn.ts'],
  'test/turns/resume/take-run.test.ts': ['src/turns/resume/find-or-resume-turn.ts'],
  'test/agents/journal.test.ts': [
    'src/turns/resume/recorded-run.ts',
    'src/turns/record/recorder.ts',
    'src/turns/record/step-writer.ts',
  ],
  'test/adapters/telemetry/otlp.test.ts': [
    'src/app/telemetry.ts',
    'src/event-sourcing/traced-transactor.ts',
    'src/http/server/trace-requests.ts',
    'src/turns/run/run-spans.ts',
  ],
  'test/turns/run/turns.test.ts': [
    'src/turns/begin/expected-cost.ts',
    'src/turns/record/run-end.ts',
    'src/turns/run/execute.ts',
    'src/turns/begin/seal-request.ts',
    'src/turns/begin/start-run.ts',
    'src/turns/record/store-outcome.ts',
    'src/turns/run/track-turn.ts',
  ],
  'test/turns/fork/fork-sessions.test.ts': ['src/turns/fork/recorded-messages.ts'],
  'test/http/routes/admin-runs.test.ts': [
    'src/turns/replay/recorded-turn.ts',
    'src/turns/replay/replay.ts',
    'src/turns/replay/replay-run.ts',
    'src/turns/replay/replayed-turn.ts',
  ],
  'test/http/routes/session-forks.test.ts': [
    'queries/get-session.ts',
    'src/http/streams/answer-chat.ts',
    'src/turns/read/find-first-options.ts',
  ],
  'test/http/server/server-logs-of-runs.test.ts': [
    'src/event-sourcing/find-request-id.ts',
    'src/turns/resume/close-run.ts',
  ],
  'test/http/routes/mcp.test.ts': ['src/http/mcp/call-agent.ts', 'src/http/mcp/cancellations.ts'],
  'test/http/routes/feed-bounds.test.ts': ['src/http/routes/admin-feeds.ts', 'src/feeds/feeds.ts'],
  'test/http/routes/platform-audit.test.ts': [
    'src/http/checks/history-owner.ts',
    'src/app/audit.ts',
  ],
  'test/adapters/embedded/integrity-check.test.ts': [
    'src/adapters/embedded/damage-found.ts',
    'src/adapters/embedded/integrity-walk.ts',
    'src/adapters/embedded/lmdb-errors.ts',
  ],
  'test/app/later-apart.test.ts': [
    'src/adapters/embedded/parted-views.ts',
    'src/app/later-process.ts',
  ],
  'test/app/two-paces.test.ts': [
    'src/app/audit-reads.ts',
    'src/app/later-here.ts',
    'src/app/read-side.ts',
  ],
  'test/feeds/feeds.test.ts': ['src/feeds/feed-history.ts'],
  'test/adapters/embedded/views.test.ts': [
    'src/adapters/embedded/views-database.ts',
    'src/adapters/embedded/views-ids.ts',
    'src/adapters/embedded/views-writing.ts',
  ],
  'test/app/nested-loops.test.ts': ['src/agents/loop-agent.ts'],
  'test/security/invitations.test.ts': [
    'queries/list-memberships.ts',
    'src/http/routes/me-memberships.ts',
    'src/security/sealed-invitation.ts',
  ],
  'test/security/keys-of-owners.test.ts': [
    'commands/change-api-key.ts',
    'commands/create-api-key.ts',
  ],
  'test/security/sealed-input.test.ts': ['queries/opened.ts', 'src/http/checks/json-text.ts'],
  'test/faults/rotate-master.test.ts': ['src/cli/rotate-master.ts', 'src/app/open-master-key.ts'],
  'test/security/rights.test.ts': ['src/security/access.ts', 'src/security/scopes.ts'],
  'test/app/serve.test.ts': ['src/main.ts'],
  'test/app/over-eventstoredb.test.ts': ['src/app/stores.ts'],
  'test/http/routes/admin-api-keys.test.ts': ['src/http/routes/me-api-keys.ts'],
  'test/http/routes/admin-organizations.test.ts': ['src/http/routes/admin-users.ts'],
  'test/http/routes/connect.test.ts': ['src/http/routes/management-connect.ts'],
  'test/http/routes/contents.test.ts': [
    'src/http/routes/content-webhooks.ts',
    'src/http/routes/files.ts',
  ],
  'test/http/routes/management-credentials.test.ts': ['src/http/routes/me-credentials.ts'],
  'test/http/routes/rag-datastores.test.ts': ['src/http/routes/rag-files.ts'],
  'test/agents/containers.test.ts': [
    'src/agents/loop-agent.ts',
    'src/agents/parallel-agent.ts',
    'src/agents/sequential-agent.ts',
  ],
  'test/agents/endings.test.ts': ['src/agents/agent-runtime.ts'],
  'test/domain/session/session.test.ts': [
    'src/domain/session/erase.ts',
    'src/domain/session/running.ts',
    'src/domain/session/runs.ts',
    'src/domain/session/send.ts',
    'src/domain/session/viewer.ts',
  ],
  'test/workers/recover-runs.test.ts': ['src/workers/release-reservations.ts'],
  'test/domain/frozen-events.test.ts': ['src/domain/categories.ts', 'src/domain/versions.ts'],
  'test/http/checks/opened-bytes.test.ts': ['queries/opened.ts', 'src/http/streams/sse.ts'],
  'test/http/checks/order.test.ts': ['src/http/server/server.ts'],
  'test/http/streams/branch-order.test.ts': ['src/http/streams/turn-frames.ts'],
  'test/http/fuzz.test.ts': ['src/http/server/server.ts', 'src/http/server/open-api.ts'],
  'test/http/costliest.test.ts': ['src/support/bounded-schema.ts', 'src/http/errors/reply.ts'],
  'test/tools/api-call.test.ts': ['src/tools/tool-policy.ts'],
  'test/tools/leaks.test.ts': ['src/tools/toolbox.ts'],
  'test/transparency/formats.test.ts': [
    'src/transparency/checkpoint.ts',
    'src/transparency/leaf.ts',
    'src/transparency/note.ts',
    'src/transparency/tile.ts',
  ],
  'test/adapters/embedded/crash.test.ts': ['src/adapters/embedded/log.ts'],
  'test/adapters/embedded/damage.test.ts': ['src/adapters/embedded/record.ts'],
  'test/adapters/embedded/keys-answers.test.ts': [
    'src/adapters/embedded/answers.ts',
    'src/adapters/embedded/key-store.ts',
  ],
  'test/adapters/embedded/model.test.ts': ['src/adapters/embedded/views.ts'],
  'test/adapters/eventstoredb/double.test.ts': ['src/adapters/eventstoredb/event-store.ts'],
  'test/adapters/eventstoredb/failover.test.ts': ['src/adapters/eventstoredb/event-store.ts'],
  'test/adapters/eventstoredb/outages.test.ts': ['src/adapters/eventstoredb/event-store.ts'],
  'test/adapters/models/outages.test.ts': [
    'src/adapters/models/circuit.ts',
    'src/adapters/models/fallback.ts',
    'src/adapters/models/retried.ts',
  ],
  'test/adapters/mongodb/server.test.ts': ['src/adapters/mongodb/connect.ts'],
}

const isSource = (file: string) => roots.some((root) => file.startsWith(`${root}/`))
const isTest = (file: string) => file.startsWith('test/') && file.endsWith('.test.ts')

/** A file whose exports are types alone has nothing to test. */
const logic =
  /^export (?:default |async )?(?:const|function|class|let)\b|^(?!import|export|type)\w/m

/**
 * Which tests are of which file, by path: `<name>.test.ts` and `<name>-….test.ts` are of
 * `<name>.ts`.
 */
export const tested = ({ files, textOf, importsOf }: Sources) => {
  const sources = files.filter(isSource)
  const byPath = new Map(sources.map((file) => [file.replace(/^src\/|\.ts$/g, ''), file]))
  const inFolder = (test: string) => wholeSystem.some((folder) => test.startsWith(`test/${folder}`))

  const mirrored = (test: string): string | undefined => {
    const path = test.replace(/^test\/|\.test\.ts$/g, '')
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const words = path.slice(folder.length).split('-')
    const names = words.map((_, n) => folder + words.slice(0, words.length - n).join('-'))
    return names.map((name) => byPath.get(name)).find(Boolean)
  }

  const own = new Map<string, string[]>()
  const homeless: string[] = []
  for (const test of files.filter(isTest)) {
    const source = mirrored(test)
    const of = [source, ...(together[test] ?? [])].filter((file) => file !== undefined)
    for (const file of of) own.set(file, [...(own.get(file) ?? []), test])
    if (of.length === 0 && !inFolder(test)) homeless.push(test)
  }

  const importers = new Map<string, string[]>()
  for (const file of files)
    for (const { from } of importsOf(file))
      importers.set(from, [...(importers.get(from) ?? []), file])

  /**
   * The tests nearest to a file that has none: of those that use it, else of those that use these.
   */
  const nearest = (file: string): string[] => {
    const seen = new Set([file])
    for (let level = [file]; level.length > 0; ) {
      level = level.flatMap((file) => importers.get(file) ?? []).filter((file) => !seen.has(file))
      for (const file of level) seen.add(file)
      const tests = level.flatMap((module) => (isTest(module) ? [module] : (own.get(module) ?? [])))
      if (tests.length > 0) return [...new Set(tests)].toSorted()
    }
    return []
  }

  return {
    /** Tests of no file, in none of the folders for the system as a whole. */
    homeless,
    nearest,
    testsOf: (file: string): readonly string[] => own.get(file) ?? [],
    /** Files with logic that have no test of their own, and the tests nearest to them. */
    covered: sources
      .filter((file) => !own.has(file) && logic.test(textOf(file)))
      .map((file) => ({ file, tests: nearest(file) })),
  }
}
