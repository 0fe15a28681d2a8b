import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { eventually } from './support/eventually.ts'
import { superAdminKey } from './support/platform.ts'
import { cli, reprise } from './support/reprise.ts'
import { startServer } from './support/server.ts'

// Some thirty processes, on machines that do other things too.
t.setTimeout(300_000)

t.test('help, version, and what is called wrongly', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.match(await reprise('--version'), { code: 0, out: `reprise/${version} `, err: '' })
  const help = await reprise('--help')
  t.match(help, { code: 0, err: '' })
  for (const command of ['serve', 'projections', 'accounts', 'keys', 'events', 'audit'])
    t.match(help.out, `  ${command} `)
  t.match(await reprise('help'), { code: 0, out: help.out, err: '' })
  t.match(await reprise('feed --help'), { code: 0, out: '(default: what is there comes first)' })
  t.notMatch((await reprise('feed --help')).out, '(default: true)')
  t.match(await reprise('events --help'), { code: 0, out: '--organization <id>' })
  for (const [args, err] of [
    ['nonsense', 'nonsense is unknown'],
    ['projections', 'missing required args'],
    ['projections drop', 'there are: list, rebuild, verify'],
    ['projections list --loudly', 'Unknown option `--loudly`'],
    ['events', '--organization <id> is required'],
    ['keys forge', 'there is: rotate-master'],
    ['accounts merge', 'there is: duplicates'],
    ['audit forge', 'there are: export, verify, replay, show'],
    ['audit export --out f', '--organization <id> is required'],
    ['audit export --organization o', '--out <file> is required'],
    ['audit verify', 'the export to verify is required'],
    ['audit replay f', '--view <read model> is required'],
    ['audit replay f --view nothing', 'there are: accounts, agent_summaries, agents'],
    ['audit replay f --view sessions --as-of soon', 'neither a time'],
    ['audit show', '--session <id> is required'],
    ['audit show --session s', '--organization <id> is required'],
  ] as const)
    t.match(await reprise(args), { code: 2, out: '', err })
})

t.test('what cannot be done says what to do', async (t) => {
  const DATA_DIR = t.testdir()
  for (const [args, env, err] of [
    ['projections list', {}, 'holds no events: set DATA_DIR'],
    ['projections list --url http://127.0.0.1:1', {}, 'SUPER_ADMIN_KEY must be set'],
    ['projections list --url http://127.0.0.1:1', { SUPER_ADMIN_KEY: 'k' }, 'does not answer'],
    ['projections list --url nowhere', { SUPER_ADMIN_KEY: 'k' }, 'nowhere is not a URL'],
    ['events --organization o', {}, 'REPRISE_API_KEY (with admin:read) or SUPER_ADMIN_KEY'],
    ['audit export --organization o --out f', {}, 'holds no events: set DATA_DIR'],
    ['accounts duplicates', {}, 'holds no events: set DATA_DIR'],
    ['keys rotate-master', {}, 'SUPER_ADMIN_KEY must be set'],
    ['keys rotate-master --new-key-file nowhere', { SUPER_ADMIN_KEY: 'k' }, 'ENOENT'],
    [
      'keys rotate-master --new-key-file package.json',
      { SUPER_ADMIN_KEY: 'k' },
      '32 bytes in base64',
    ],
    [
      'audit export --organization o --out f --url http://127.0.0.1:1',
      {},
      '--key, REPRISE_API_KEY',
    ],
    ['audit verify package.json', {}, 'package.json is no export'],
    ['audit verify nowhere', {}, 'nowhere cannot be read: ENOENT'],
    ['audit replay package.json --view sessions', {}, 'package.json is no export'],
    ['serve', { PORT: 'many' }, 'ConfigInvalid: The environment has errors:\n  PORT:'],
  ] as const)
    t.match(await reprise(args, { DATA_DIR, ...env }), { code: 1, out: '', err })
})

const rows = (out: string) => out.trim().split('\n').slice(1)

const throughServer = async (t: Test) => {
  const DATA_DIR = t.testdir()
  const server = await startServer(t, { DATA_DIR })
  const organization = await server.platform.organization()
  return { server, organization, env: { DATA_DIR, SUPER_ADMIN_KEY: superAdminKey } }
}

t.test('projections, with a server in between and without', async (t) => {
  const { server, env } = await throughServer(t)
  const { url } = server

  // What is folded later is folded soon after.
  const listed = await eventually(async () => {
    const now = await reprise(`projections list --url ${url}`, env)
    t.match(now, { code: 0, err: '' })
    return rows(now.out).every((row) => /^[a-z_]+ +\d+ +0 events +running$/.test(row))
      ? now
      : undefined
  })
  t.match(listed.out, /^NAME +POSITION +LAG +STATE\n/)

  const rebuild = await reprise(`projections rebuild members --url ${url}`, env)
  t.match(rebuild, { code: 0, out: '', err: /members: rebuilt\n$/ })
  t.match(await reprise(`projections rebuild nothing --url ${url}`, env), {
    code: 1,
    err: 'answers 404: There is no such projection',
  })
  t.match(await reprise('projections list', env), {
    code: 1,
    out: '',
    err: /in use by process \d+.*--url/,
  })

  t.equal(await server.stop(), 0)
  const idle = await reprise('projections list', env)
  t.equal(idle.code, 0)
  for (const row of rows(idle.out)) t.match(row, /^[a-z_]+ +\d+ +0 events +idle$/)
  const all = await reprise('projections rebuild', env)
  t.equal(all.code, 0)
  for (const row of rows(idle.out)) t.match(all.err, `${row.split(' ')[0]}: rebuilt\n`)
  t.equal((await reprise('projections list', env)).out, idle.out, 'as far as before')
  t.match(await reprise('projections rebuild nothing', env), { code: 2 })
})

t.test('events are shown, and followed', async (t) => {
  const { server, organization, env } = await throughServer(t)
  const args = `events --organization ${organization.organizationId} --url ${server.url}`
  const listing = await reprise(args, env)
  t.equal(listing.code, 0)
  t.match(
    listing.out,
    /^\d+ {2}[\d-]+T[\d:.]+Z {2}OrganizationCreated {2}organization-\S+@0 {2}\{/m,
  )
  t.notMatch(listing.out, '"$sealed"')

  const json = await reprise(`${args} --json --type OrganizationCreated`, env)
  t.match(JSON.parse(json.out), { type: 'OrganizationCreated', revision: 0, metadata: {} })
  const { position } = JSON.parse(json.out)
  t.notMatch((await reprise(`${args} --after ${position}`, env)).out, 'OrganizationCreated')

  const follower = spawn(process.execPath, [cli, ...args.split(' '), '--follow'], { env })
  t.teardown(() => follower.kill('SIGKILL'))
  follower.stdout.setEncoding('utf8')
  let seen = ''
  const waitFor = async (what: string) => {
    while (!seen.includes(what)) seen += (await once(follower.stdout, 'data'))[0]
  }
  await waitFor('OrganizationCreated')
  await server.platform.ask('PATCH', `/organizations/${organization.organizationId}`, {
    name: 'Renamed',
  })
  await waitFor('OrganizationRenamed')
  t.pass('what came later is shown too')
  follower.kill('SIGTERM')
  await once(follower, 'exit')
})

t.test('feed tail tells a read model and its changes, one a line', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  t.match(await reprise('feed tail sessions'), { code: 2, err: '--organization <id> is required' })
  const { organizationId } = organization
  const args = ['feed', 'tail', 'agents', '--organization', organizationId, '--url', server.url]
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env.PATH ?? '', SUPER_ADMIN_KEY: superAdminKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value)
  t.match(await next(), { op: 'upsert', document: { name: 'Orchestrator' }, position: Number })
  await organization.agent({ name: 'Second' })
  t.match(await next(), { op: 'upsert', document: { name: 'Second' }, position: Number })
  const unknown = `feed tail nothing --organization ${organizationId} --url ${server.url}`
  t.match(await reprise(unknown, { SUPER_ADMIN_KEY: superAdminKey }), {
    code: 1,
    err: /is none of/,
  })
})
