import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { projections } from '../../projections/all.ts'
import { app } from '../../src/app/app.ts'
import { commandsOf } from '../../src/app/commands.ts'
import { masterKeyOf } from '../../src/app/master-key.ts'
import { openStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { type Config, configFrom } from '../../src/config.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import { START } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import type { Document } from '../../src/ports/views.ts'
import { readSecret } from '../../src/security/master-keys.ts'
import { sealedBlobs } from '../../src/security/sealed-blobs.ts'
import { secretsOf, wrapOf } from '../../src/security/secrets.ts'
import { vault as vaultOf } from '../../src/security/vault.ts'
import { client } from '../support/client.ts'
import { fixedKeys } from '../support/fixed-keys.ts'
import { mcpServer } from '../support/mcp-server.ts'
import { gathered } from '../support/noted.ts'
import { platform, superAdminKey } from '../support/platform.ts'
import { providerDouble } from '../support/provider-double.ts'
import { call } from '../support/recorded.ts'
import { json, type WebRequest, web } from '../support/web.ts'

/** Found again in whatever way it is escaped. */
const core = 'l34kl34kl34k'
const secret = `sk/${core}+"x"`

/** Commands on the stores of an application that is down. */
const offline = async (config: Config) => {
  const stores = await openStores(config, silent)
  const { events: store, keys, snapshots } = stores
  const masterKey = await masterKeyOf(config)
  const secrets = secretsOf(await readSecret(keys, masterKey))
  const vault = vaultOf({ keys: fixedKeys(keys, wrapOf(masterKey)) })
  const blobs = sealedBlobs({ blobs: stores.blobs, vault })
  const uses = { clock: systemClock, blobs, secrets, vault, modelFault: () => undefined }
  const commands = commandsOf({
    ...uses,
    transactor: transactor({ store, snapshots, clock: systemClock }),
  })
  return { ...stores, commands }
}

/** Everything that is stored: events and the documents of every read model. */
const storedIn = async (config: Config): Promise<string> => {
  const { events, views, close } = await offline(config)
  const documents: unknown[] = []
  for (const projection of projections)
    for await (const batch of (await views.view<Document>(projection)).all())
      documents.push(...batch)
  const all = JSON.stringify([await gathered(events.history(START)), documents])
  await close()
  return all
}

const settings = async (t: Test, providerUrl: string) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return configFrom({
    DATA_DIR: path,
    SUPER_ADMIN_KEY: superAdminKey,
    DEMO: 'off',
    LOG_LEVEL: 'trace',
    LLM_BASE_URL: providerUrl,
    LLM_MODEL: 'test/model',
    API_CALL_ALLOW_HOSTS: '127.0.0.1',
  })
}

t.test('a credential is sent, and found nowhere else', async (t) => {
  const provider = await providerDouble({ text: 'That is all I found.' })
  t.teardown(provider.close)
  const config = await settings(t, provider.url)
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const start = async () => {
    const running = await app(config, { log })
    await running.recover()
    return { ...running, url: await running.http.listen({ host: '127.0.0.1', port: 0 }) }
  }

  /** Sites that repeat what they are sent, each in its own way. */
  const site = await web(t, ({ url, headers }, response) => {
    const { authorization = '' } = headers
    if (url === '/fails') json(response, { refused: authorization }, 500)
    else if (url === '/moves') response.writeHead(302, { location: `/${authorization}` }).end()
    else if (url === '/cut') response.destroy()
    else if (url === '/pays')
      json(
        response,
        { accepts: [{ network: authorization, amount: authorization }], error: authorization },
        402,
        { 'x-token': encodeURIComponent(authorization) },
      )
    else json(response, { headers, again: encodeURIComponent(authorization) })
  })
  const mcp = await mcpServer(t)
  const refusing = await mcpServer(t, { authorization: 'other' })
  const headers = { Authorization: 'Bearer {{credential:SITE_TOKEN}}' }

  let life = await start()
  const organization = await platform(life.url).organization()
  const { body: agent } = await client(life.url, superAdminKey).ask(
    'POST',
    `/api/admin/organizations/${organization.organizationId}/agents`,
    {
      name: 'Caller',
      model: 'test/model',
      tools: ['shows', 'fails', 'moves', 'cut', 'pays'].map((name) => ({
        type: 'api_call',
        name,
        method: 'GET',
        url: `${site.url}/${name}`,
        headers,
      })),
      mcp_servers: [
        { name: 'mcp', url: mcp.url, headers },
        { name: 'refusing', url: refusing.url, headers },
      ],
    },
  )
  const { key } = await organization.key()
  await life.close()

  const before = await offline(config)
  await before.commands.storeCredential(
    { userId: organization.ownerId, name: 'SITE_TOKEN', value: secret },
    { ...call, organizationId: organization.organizationId, userId: organization.ownerId },
  )
  await before.close()

  life = await start()
  const user = client(life.url, key)
  const tools = ['shows', 'fails', 'moves', 'cut', 'pays', 'whoami', 'breaks', 'throws', 'refusing']
  const calls = tools.map((name) => ({ name, arguments: {} }))
  const turn = {
    messages: [{ role: 'user', content: 'Call everything.' }],
    target_agent_id: agent.agent_id,
  }
  const answers: string[] = []
  provider.next({ calls })
  answers.push(JSON.stringify((await user.chat(turn)).body))
  provider.next({ calls })
  answers.push(JSON.stringify(await (await user.stream(turn)).all()))
  const sessions = (await user.sessions()).body
  answers.push(JSON.stringify(sessions))
  for (const { session_id } of sessions.sessions)
    answers.push(JSON.stringify((await user.messages(session_id)).body))
  await life.close()

  const sent = (requests: readonly WebRequest[]) =>
    requests.filter((request) => request.headers.authorization === `Bearer ${secret}`).length
  t.ok(sent(site.requests) >= 10, 'the site was sent it')
  t.ok(sent(mcp.requests) > 0, 'the MCP server was sent it')
  const prompts = JSON.stringify(provider.requests.map(({ body }) => body))
  t.match(prompts, /\[SITE_TOKEN\]/, 'the model was shown what the sites said')
  t.equal(answers.join('').match(/payment_required/g)?.length, 1)
  const places = {
    prompts,
    answers: answers.join('\n'),
    logs: lines.join('\n'),
    stored: await storedIn(config),
  }
  const forms = [core, Buffer.from(secret).toString('base64').slice(0, 20)]
  for (const [place, text] of Object.entries(places)) {
    t.ok(text.length > 500, `${place} are there`)
    for (const form of forms) t.notOk(text.includes(form), `not in ${place}`)
  }
})
