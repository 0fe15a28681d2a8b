import t from 'tap'
import type { Sources } from '../imports.ts'
import { testsOf } from './tests-of.ts'

const imports: Record<string, readonly string[]> = {
  'commands/end-run.ts': [],
  'src/app/app.ts': ['commands/end-run.ts'],
  'test/commands/end-run.test.ts': [],
  'test/commands/end-run-again.test.ts': ['commands/end-run.ts'],
  'test/commands/pause-run.test.ts': ['src/app/app.ts'],
  'test/commands/enter.test.ts': [],
  'test/commands/remember.test.ts': ['src/app/app.ts'],
  'test/http/routes/chat.test.ts': ['src/app/app.ts'],
  'test/http/routes/runs.test.ts': ['src/app/app.ts'],
  'test/rag/reader.test.ts': ['src/app/app.ts'],
  'test/turns/turns.test.ts': ['commands/end-run.ts'],
}
const program: Sources = {
  files: Object.keys(imports),
  textOf: () => '',
  importsOf: (file) => (imports[file] ?? []).map((from) => ({ from, names: [], typesOnly: false })),
}

t.test('mirrored tests are first, then importers, those of its name, the folder’s', async (t) => {
  t.strictSame(testsOf(program)('commands/end-run.ts'), [
    'test/commands/end-run.test.ts',
    'test/commands/end-run-again.test.ts',
    'test/turns/turns.test.ts',
    'test/commands/pause-run.test.ts',
    'test/http/routes/runs.test.ts',
    'test/commands/remember.test.ts',
    'test/http/routes/chat.test.ts',
  ])
})
