import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { exportsOf } from '../support/exports.ts'
import { startServer } from '../support/server.ts'

const run = promisify(execFile)

const noCurl = spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'no curl here' }

/** The commands of the tour, as they stand in README.md, without the one that sets what is said. */
const steps = () => {
  const [, tour = ''] = readFileSync('README.md', 'utf8').split('## A five-minute tour\n')
  const [own = ''] = tour.split('\n## ')
  const blocks = [...own.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  return blocks.filter((block) => !block.startsWith('export '))
}

t.test('the tour in README.md works as it stands there', noCurl, async (t) => {
  const server = await startServer(t, { DEMO: 'on' })
  const env = { PATH: process.env.PATH ?? '', ...(await exportsOf(server)) }
  const outputs: string[] = []
  for (const step of steps()) {
    const { stdout } = await run('sh', ['-c', step], { env })
    outputs.push(stdout)
  }
  const [chat = '', stream = '', messages = '', runs = '', events = '', ...more] = outputs
  t.strictSame(more, [])
  t.match(JSON.parse(chat), { object: 'chat.completion', session_id: 'tour' })
  t.match(stream, 'data: {"event":"agent_started"')
  t.match(stream, /data: \[DONE\]\n\n$/)
  t.match(JSON.parse(messages), { total: 4 })
  t.match(JSON.parse(runs).events, { length: 2 })
  t.equal(events.match(/ {2}RunCompleted {2}/g)?.length, 2)
})
