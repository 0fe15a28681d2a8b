import t, { type Test } from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { type Client, contents, textOf, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import type { Organization } from '../support/platform.ts'
import type { Reply } from '../support/provider-double.ts'
import { apiCall, countingWorld } from '../support/run-world.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server.
t.setTimeout(300_000)

const never = new Promise(() => undefined)
const looking: Reply = {
  text: 'Let me look. ',
  calls: [{ name: 'look', arguments: {} }],
  usage: { prompt_tokens: 100, completion_tokens: 50 },
}

/** A server whose models cost a credit for a thousand tokens, and agents with limits on it. */
const started = async (t: Test) => {
  const { provider, tools, env } = await countingWorld(t, { text: 'Done.' })
  const server = await startServer(t, {
    ...env,
    LLM_PRICES: JSON.stringify({ 'test/*': { prompt: 1_000, completion: 1_000 } }),
  })
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  let agentCount = 0
  const agent = (limits: object, effect = 'read') =>
    organization.agent({
      name: `Worker ${++agentCount}`,
      limits,
      tools: [apiCall(tools.url, 'look', 'POST', { effect })],
    })
  const dataOf = async (type: string) =>
    (await server.platform.events(organization.organizationId, type)).map(
      ({ data }: { data: object }) => data,
    )
  return { provider, tools, server, organization, key, agent, dataOf }
}

const settled = async (t: Test, { balance }: Organization) => {
  const now = await balance()
  t.equal(now.balance, now.effective, 'no credits are held')
  return now.balance
}

const error = (message: RegExp) => ({
  status: 422,
  code: 'run_limit_reached',
  body: { error: { code: 'run_limit_reached', type: 'run_limit_error', message } },
})

t.test('a run ends at each limit of its agent, and says which', async (t) => {
  const { provider, tools, server, organization, key, agent, dataOf } = await started(t)
  const { platform } = server
  const client: Client = server.as(key)
  const balance = () => platform.balanceOf(organization.ownerId)
  const here = { ...organization, balance }
  const before = await settled(t, here)

  provider.next(looking, looking, looking)
  const steps = { target_agent_id: await agent({ max_steps: 4 }) }
  const turn = { messages: user('Look'), session_id: 'steps', ...steps }
  const idempotent = { headers: { 'idempotency-key': 'one' } }
  const reply = await client.chat(turn, idempotent)
  t.match(reply, error(/used 4 of 4 steps/))
  t.equal(tools.timesOf('/look'), 2, 'the orchestrator, the agent, two calls')
  t.equal(provider.requests.length, 3, 'what they gave is heard, and no more is called')
  t.match(await contents(client, 'steps'), ['Look', /^Let me look\./], 'what was said is kept')
  const after = await settled(t, here)
  t.equal(Math.round((before - after) * 1_000), 450, 'and charged')
  t.match(await dataOf('RunStarted'), [{ limits: { steps: 4 } }])
  t.match(await dataOf('RunLimitReached'), [
    { limit: 'steps', used: 4, allowed: 4, setBy: 'agent' },
  ])
  t.match(await dataOf('RunFailed'), [{ code: 'run_limit_reached', charge: 450_000 }])
  t.match(await client.chat(turn, idempotent), error(/used 4 of 4 steps/))
  t.equal(provider.requests.length, 3, 'a request that is repeated has the one answer')

  const messages = user('Say')
  provider.next({ ...looking, calls: [], text: 'word '.repeat(5_000) })
  const tokens = { target_agent_id: await agent({ max_tokens: 400 }) }
  const stream = await client.stream({ messages, session_id: 'tokens', ...tokens })
  const frames = await stream.all()
  t.match(frames.at(-2)?.data, { error: { code: 'run_limit_reached', message: /400 tokens/ } })
  t.equal(frames.at(-1)?.data, '[DONE]')
  const text = textOf(frames.slice(0, -2))
  t.ok(text.length > 100 && text.length < 5_000, 'the text until then was sent')
  t.ok(Number(provider.requests.at(-1)?.body.max_tokens) < 400, 'the model is told what is left')

  provider.next({ ...looking, calls: [], usage: { prompt_tokens: 100, completion_tokens: 1_500 } })
  const credits = { target_agent_id: await agent({ max_credits: 1.25 }) }
  const start = await settled(t, here)
  t.equal((await client.chat({ messages, session_id: 'credits', ...credits })).status, 200)
  const end = await settled(t, here)
  t.equal(Math.round((start - end) * 1_000), 1_250, 'no more is charged than the agent allows')
  const release = deferred<void>()
  provider.next({
    ...looking,
    usage: { prompt_tokens: 100, completion_tokens: 1_500 },
    hold: { after: 0, until: release.promise },
  })
  const spent = { messages, session_id: 'credits', ...credits }
  const sdk = (attempt: string) => ({
    headers: { 'x-stainless-lang': 'js', 'x-stainless-retry-count': attempt },
  })
  const count = provider.requests.length
  const leaving = new AbortController()
  const left = client.chat(spent, { ...sdk('0'), signal: leaving.signal }).catch(() => undefined)
  await provider.received(count + 1)
  leaving.abort()
  await left
  await client.sessions()
  release.resolve()
  t.match(await client.chat(spent, sdk('1')), error(/1\.6 of 1\.25 credits/))
  t.equal(provider.requests.length, count + 1, 'nor does the retry of an SDK spend more')
  t.equal(tools.timesOf('/look'), 2, 'nothing is called once the credits are used up')

  provider.next({ text: 'word', hold: { after: 2, until: never } })
  const seconds = { target_agent_id: await agent({ max_seconds: 1 }) }
  t.match(await client.chat({ messages, session_id: 'seconds', ...seconds }), error(/of 1 seconds/))
  t.match(await dataOf('RunLimitReached'), {
    length: 4,
    1: { limit: 'tokens', allowed: 400 },
    2: { limit: 'credits', used: 1_600_000, allowed: 1_250_000 },
    3: { limit: 'seconds', allowed: 1 },
  })

  t.equal((await client.chat({ messages, session_id: 'seconds' })).status, 200, 'it goes on')
  await settled(t, here)

  await server.kill9()
  await server.restart()
  const later = server.as(key)
  const followed = await later.chat(turn, idempotent)
  t.match(followed, error(/used 4 of 4 steps/), 'told again by a process that did not run it')
})

t.test('what was used before a kill counts', async (t) => {
  const { provider, tools, server, organization, key, agent, dataOf } = await started(t)
  const target_agent_id = await agent({ max_steps: 5 })
  const turn = { messages: user('Look'), session_id: 's', target_agent_id }
  const idempotent = { headers: { 'idempotency-key': 'one' } }
  tools.hold('/look')
  provider.next(looking, looking, looking, looking)
  const first = server
    .as(key)
    .chat(turn, idempotent)
    .catch(() => undefined)
  await tools.received('/look', 1)
  await server.platform.ask(
    'PATCH',
    `/organizations/${organization.organizationId}/agents/${target_agent_id}`,
    { limits: { max_steps: 500 } },
  )
  await server.kill9()
  await first
  tools.letGo()
  await server.restart()

  const client = server.as(key)
  await eventually(async () => {
    const { body } = await client.status('s')
    return body.is_processing ? undefined : true
  })
  t.match(await client.chat(turn, idempotent), error(/used 5 of 5 steps/))
  t.equal(tools.timesOf('/look'), 4, 'the call of the first life was made again, and two more')
  t.equal(provider.requests.length, 4)
  t.match(await dataOf('RunResumed'), { length: 1 })
  t.match(await dataOf('RunLimitReached'), [{ used: 5, allowed: 5 }])
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(balance, effective)
  t.equal(Math.round((100 - balance) * 1_000), 600, 'four answers are charged, once each')
})

t.test('every way of asking tells the limit, and pauses do not lift it', async (t) => {
  const { provider, tools, server, organization, key, agent, dataOf } = await started(t)
  const client = server.as(key)
  const agent_id = await agent({ max_steps: 1 })
  const code = 'run_limit_reached'

  const completions = `/api/external/agents/${agent_id}/completions`
  provider.next(looking)
  t.match(await client.ask('POST', completions, { message: 'Look' }), error(/1 of 1 steps/))
  provider.next(looking)
  const stream = await client.open('POST', completions, { message: 'Look', stream: true })
  t.match(JSON.stringify(await stream.all()), /run_limit_reached/)

  const responses = '/api/external/v1/responses'
  const body = { model: agent_id, input: 'Look' }
  const before = provider.requests.length
  t.match(await client.ask('POST', responses, body), error(/1 of 1 steps/))
  const behind = await client.ask('POST', responses, { ...body, background: true })
  const response = await eventually(async () => {
    const { body } = await client.ask('GET', `${responses}/${behind.body.id}`)
    return body.status === 'queued' || body.status === 'in_progress' ? undefined : body
  })
  t.match(response, { status: 'failed', error: { code, message: /1 of 1 steps/ } })
  t.equal(provider.requests.length, before, 'the step was that of the orchestrator')
  t.equal(tools.timesOf('/look'), 0)

  const parallel = await organization.agent({
    name: 'Both',
    agent_type: 'PARALLEL_AGENT',
    sub_agents: [await agent({ max_steps: 1 }), await agent({ max_tokens: 1 })],
    limits: { max_steps: 500 },
  })
  provider.next(looking, looking)
  t.match(
    await client.chat({ messages: user('Look'), target_agent_id: parallel }),
    { status: 200 },
    'limits of agents that others run are not looked at',
  )
  t.equal(tools.timesOf('/look'), 2)

  const carefulAgent = await organization.agent({
    name: 'Careful',
    limits: { max_steps: 4, max_seconds: 1_800 },
    tools: [apiCall(tools.url, 'look', 'POST', { requires_approval: true })],
  })
  const decider = await organization.key({ type: 'user', user_id: organization.ownerId })
  const careful = server.as(decider.key)
  provider.next(looking, looking, looking)
  const turn = { messages: user('Look'), session_id: 'careful', target_agent_id: carefulAgent }
  let pending = (await careful.chat(turn)).body.pending_approvals
  for (let n = 0; n < 2; n++) {
    await server.kill9()
    await server.restart()
    const now = server.as(decider.key)
    const [{ approval_id, arguments_digest }] = pending
    const decision = { decision: 'approve', arguments_digest }
    const path = `/api/external/approvals/${approval_id}`
    t.match(await now.ask('POST', path, decision), { status: 200 })
    pending = await eventually(async () => {
      const { body } = await now.status('careful')
      if (body.is_processing) return undefined
      const listing = await now.ask('GET', '/api/external/approvals?status=pending')
      return listing.body.approvals
    })
  }
  t.strictSame(pending, [], 'the third call is not even asked for')
  t.equal(tools.timesOf('/look'), 4)
  const last = (await dataOf('RunLimitReached')).at(-1)
  t.match(last, { limit: 'steps', used: 4, allowed: 4 })
  t.match(await dataOf('RunPaused'), { length: 2 })
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(balance, effective)
})
