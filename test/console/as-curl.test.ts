import { execFileSync } from 'node:child_process'
import t from 'tap'
import { asCurl } from '../../console/src/api/as-curl.ts'

const origin = 'https://reprise.example'

t.test('writes a read in two lines', async (t) => {
  t.equal(
    asCurl({ url: '/api/external/agents?page=2' }, origin),
    `curl 'https://reprise.example/api/external/agents?page=2' \\
  -H "X-API-Key: $REPRISE_API_KEY"`,
  )
})

t.test('writes a change so that a shell reads back what was sent', async (t) => {
  const body = { message: `it's "quoted" $HOME \`id\`\n` }
  const line = asCurl(
    { method: 'POST', url: '/api/x', headers: { accept: 'text/csv' }, body },
    origin,
  )
  const script = `curl() { printf '%s\\0' "$@"; }\n${line}`
  const args = execFileSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { REPRISE_API_KEY: 'sk-1' },
  }).split('\0')
  t.strictSame(args.slice(0, -2), [
    '-X',
    'POST',
    `${origin}/api/x`,
    '-H',
    'X-API-Key: sk-1',
    '-H',
    'accept: text/csv',
    '-H',
    'Content-Type: application/json',
    '-d',
  ])
  t.strictSame(JSON.parse(args.at(-2) ?? ''), body)
})
