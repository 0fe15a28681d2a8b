import { stripVTControlCharacters } from 'node:util'
import { pino } from 'pino'
import t from 'tap'
import { readableLog } from '../../src/app/readable-log.ts'

const lines: string[] = []
const log = pino({ base: null }, { write: (line) => lines.push(readableLog(line)) })

const dim = '\u001b[2m'

/** The last line without its time and colours. */
const last = () => stripVTControlCharacters(lines.at(-1) ?? '').replace(/^\d\d:\d\d:\d\d /, '')

t.test('a request is one line', async (t) => {
  const fields = { method: 'GET', route: '/api/x', status: 200, ms: 12.4, organizationId: 'o1' }
  log.info({ ...fields, reqId: 'r1' }, 'request')
  t.equal(last(), 'GET /api/x 200 12 ms organizationId=o1\n')
  t.ok(lines.at(-1)?.startsWith(dim))
  t.match(lines.at(-1)?.slice(dim.length), /^\d\d:\d\d:\d\d.{4} GET/s)
})

t.test('other lines have their fields, and the stack of an error', async (t) => {
  log.info({ url: 'http://127.0.0.1:3000', n: [1] }, 'ready')
  t.equal(last(), 'ready url=http://127.0.0.1:3000 n=[1]\n')
  log.error({ err: new Error('no'), reqId: 'r1' }, 'failed')
  t.match(last(), /^failed\nError: no\n {4}at [\s\S]+ reqId=r1\n$/)
})

t.test('what a client sent cannot steer the terminal', async (t) => {
  log.warn({ reqId: 'a\u001b[2Jb' }, 'x\u0007\u009b1m')
  t.equal(last(), 'x??1m reqId=a?[2Jb\n')
})

t.test('a text that is no line of the log stays as it is', async (t) => {
  for (const text of ['hello\n', '{"level":', '{"a":1}\n']) t.equal(readableLog(text), text)
})
