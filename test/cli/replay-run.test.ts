import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { user } from '../support/client.ts'
import { superAdminKey } from '../support/platform.ts'
import { reprise } from '../support/reprise.ts'
import { startChat } from '../support/server.ts'

t.test('reprise runs replay', async (t) => {
  const { key, server, organization } = await startChat(t, { text: 'Answer.' })
  const { organizationId } = organization
  const agents = `/organizations/${organizationId}/agents`
  const [{ agent_id }] = (await server.platform.ask('GET', agents)).agents
  const instruction = 'Be short.\nBe kind.'
  await server.platform.ask('PATCH', `${agents}/${agent_id}`, { instruction })
  const { body } = await key.chat({ messages: user('Hi'), session_id: 's' })
  const run = body.id.replace('chatcmpl-', '')
  const env = {
    REPRISE_URL: server.url,
    REPRISE_ORGANIZATION: organizationId,
    SUPER_ADMIN_KEY: superAdminKey,
  }
  const same = await reprise(`runs replay ${run}`, env)
  t.equal(same.code, 0, same.err)
  t.equal(
    same.out,
    `run ${run} of session s, model: recorded\n1 steps as recorded, 0 would differ; the answer is the same\n`,
  )
  const file = join(t.testdir(), 'instruction')
  await writeFile(file, 'Be short.\nBe thorough.')
  const tried = await reprise(`runs replay ${run} --instruction ${agent_id}=${file}`, env)
  t.equal(tried.code, 0, tried.err)
  t.match(
    tried.out,
    /0\/1 {2}Orchestrator \(model\) would change\n {2}system\n {4}- Be kind\.\n {4}\+ Be thorough\.\n/,
  )
  t.match(tried.out, /0 steps as recorded, 1 would differ; the answer is the same/)
  const live = await reprise(`runs replay ${run} --model live --json`, env)
  t.match(JSON.parse(live.out), { model: 'live', steps: [], answer: { now: 'Answer.' } })

  const failing: [string, number, RegExp][] = [
    ['runs show x', 2, /there is: replay/],
    ['runs replay unknown', 1, /404: The organization has no such run/],
    [`runs replay ${run} --model other`, 2, /recorded or live/],
    [`runs replay ${run} --instruction x`, 2, /<agent id>=<file>/],
    [`runs replay ${run} --instruction x=/nowhere`, 1, /ENOENT/],
  ]
  for (const [args, code, says] of failing) {
    const refused = await reprise(args, env)
    t.equal(refused.code, code, args)
    t.match(refused.err, says)
  }
})
