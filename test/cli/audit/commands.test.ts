import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { superAdminKey } from '../../support/platform.ts'
import { reprise } from '../../support/reprise.ts'
import { startServer } from '../../support/server.ts'

// Some twenty processes, on machines that do other things too.
t.setTimeout(300_000)

t.test('a history is exported, verified, tampered with, and replayed', async (t) => {
  const folder = t.testdir({ data: {} })
  const DATA_DIR = join(folder, 'data')
  const server = await startServer(t, { DATA_DIR })
  const { url, platform } = server
  const organization = await platform.organization()
  const { organizationId } = organization
  const key = await organization.key({
    scopes: ['orchestrator:invoke', 'sessions:read', 'sessions:messages'],
  })
  const chat = (session_id: string, content: string) =>
    key.ask('POST', '/api/external/v1/chat/completions', {
      session_id,
      messages: [{ role: 'user', content }],
    })
  t.equal((await chat('first', 'Hello there')).status, 200)
  const at = new Date().toISOString()
  for (let n = 0; n < 40; n++) t.equal((await chat('second', `And number ${n}`)).status, 200)

  const env = { DATA_DIR, REPRISE_API_KEY: superAdminKey }
  const file = join(folder, 'history.ndjson')
  const exporting = `audit export --organization ${organizationId} --out ${file}`
  const local = await reprise(exporting, env)
  t.match(local, { code: 1, out: '', err: /in use by process \d+.*--url/ })
  const firstExport = await reprise(`${exporting} --url ${url}`, env)
  t.match(firstExport, { code: 0, out: /^\d+ events in .*history\.ndjson\n$/, err: '' })
  const size = Number.parseInt(firstExport.out, 10)
  t.ok(size > 256)

  const complete = readFileSync(file, 'utf8')
  t.notMatch(complete, 'Hello there')
  truncateSync(file, Math.floor(complete.length / 2))
  t.match(await reprise(`${exporting} --url ${url} --key ${superAdminKey}`, { DATA_DIR }), {
    code: 0,
  })
  t.ok(readFileSync(file, 'utf8') === complete, 'an interrupted export goes on')

  const { key: vkey, checkpoint } = JSON.parse(complete.slice(0, complete.indexOf('\n')))
  const checkpointFile = `${file}.checkpoint`
  writeFileSync(checkpointFile, checkpoint)
  t.match(await reprise(`audit verify ${file}`), {
    code: 0,
    out: `${size} events of reprise/${organizationId} are as they were signed\n`,
    err: '',
  })
  await chat('second', 'One more')
  t.match(await reprise(`audit verify ${file} --url ${url} --checkpoint ${checkpointFile}`, env), {
    code: 0,
    out: `the checkpoint of ${size} events is of the same history\nthe server's history of `,
  })
  t.match(await reprise(`audit verify ${file} --vkey ${vkey.replace('+', '-')}`), {
    code: 1,
    err: 'is not signed with the key',
  })

  const lines = complete.trimEnd().split('\n')
  const places = lines.flatMap((line, n) => (line.startsWith('{"data":') ? [n] : []))
  const [tenth = 0, last = 0] = [places[10], places.at(-1)]
  const line = lines[tenth] ?? ''
  for (const [changed, fault] of [
    [lines.with(tenth, line.replace(/"at":"2/, '"at":"3')), 'event 10 was altered'],
    [lines.toSpliced(tenth, 1), 'event 10 was dropped'],
    [lines.with(tenth, lines[last] ?? '').with(last, line), 'event 10 was reordered'],
  ] as const) {
    writeFileSync(file, `${changed.join('\n')}\n`)
    t.match(await reprise(`audit verify ${file}`), { code: 1, out: '', err: fault })
  }
  writeFileSync(file, complete)

  const sessions = await key.ask('GET', '/api/external/sessions')
  const replayed = await reprise(`audit replay ${file} --view sessions --json`)
  t.equal(replayed.code, 0)
  const documents = replayed.out
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
  t.match(
    documents.map(({ document }) => document.session_id).toSorted(),
    sessions.body.sessions.map(({ session_id }: { session_id: string }) => session_id).toSorted(),
  )
  const then = await reprise(`audit replay ${file} --view sessions --as-of ${at}`)
  t.match(then.out, /^ID +SESSION_ID .*\n.*first.*\n$/)
  t.notMatch(then.out, 'second')
  const { position } = JSON.parse(lines[places[0] ?? 0] ?? '')
  t.match(await reprise(`audit replay ${file} --view sessions --as-of ${position}`), {
    code: 0,
    out: 'ID\n(none)\n',
  })

  const where = `--session first --organization ${organizationId}`
  const tree =
    /^session first {2}of user .*\nrun \S+ {2}completed .* credits .*\n {2}user: Hello there\n {2}Orchestrator {2}LLM_AGENT .*\n {2}Orchestrator: .*\n$/
  t.match(await reprise(`audit show ${where} --url ${url}`, env), { code: 0, out: tree, err: '' })
  t.match(await reprise(`audit show ${file} --session first`), {
    code: 0,
    out: /user: \(sealed\)\n {2}Orchestrator/,
  })
  t.match(await reprise(`audit show ${file} --session third`), {
    code: 1,
    err: 'there is no session third',
  })

  const own = join(folder, 'platform.ndjson')
  const platformExport = `audit export --organization platform --out ${own}`
  t.match(await reprise(`${platformExport} --url ${url}`, env), { code: 0, out: /^\d+ events in / })
  t.match(await reprise(`audit verify ${own} --url ${url}`, env), {
    code: 0,
    out: /^\d+ events of reprise\/platform are as they were signed\n/,
  })
  t.match(await reprise('events --organization platform', { ...env, PORT: new URL(url).port }), {
    code: 0,
    out: /KeysRegistered/,
  })

  t.equal(await server.stop(), 0)
  t.match(await reprise(platformExport.replace(own, `${own}.local`), env), { code: 0 })
  const other = `${file}.local`
  const again = await reprise(`audit export --organization ${organizationId} --out ${other}`, env)
  t.match(again, { code: 0, out: /^\d+ events in / })
  t.ok(Number.parseInt(again.out, 10) > size, 'with no server in between')
  t.match(await reprise(`audit verify ${other} --checkpoint ${checkpointFile} --vkey ${vkey}`), {
    code: 0,
  })
  t.match(await reprise(`audit export --organization nobody --out ${file}.n`, env), {
    code: 1,
    err: 'no events of an organization nobody',
  })

  const falsified = await openLog({ path: join(DATA_DIR, 'log') })
  const [place] = [...falsified.records.getRange({})].filter(
    ({ value }) => value?.includes('"OrganizationCreated"') === true,
  )
  const text = place?.value ?? ''
  const created = places.findIndex((n) => lines[n]?.includes('"type":"OrganizationCreated"'))
  const { id } = JSON.parse(lines[places[created] ?? 0] ?? '')
  await falsified.write({
    bytes: text.length,
    prepare: () => () => {
      void falsified.records.put(place?.key ?? -1, text.replace(/"name":"/, '"name":"Not '))
    },
  })
  await falsified.close()
  const later = await startServer(t, { DATA_DIR })
  const trusting = await reprise(`audit verify ${other} --url ${later.url}`, env)
  t.match(trusting, { code: 1, out: '', err: 'what the server serves is not what it has signed' })
  t.match(
    trusting.err,
    new RegExp(`event ${created} was altered: OrganizationCreated .*, id ${id}\n`),
  )
  t.equal(await later.stop(), 0)

  appendFileSync(other, '\n')
  t.match(await reprise(`audit verify ${other}`), { code: 1, err: 'something that is no event' })
})
