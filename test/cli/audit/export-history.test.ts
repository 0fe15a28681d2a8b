import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { exportHistory } from '../../../src/cli/audit/export-history.ts'
import { verifyHistory } from '../../../src/cli/audit/verify.ts'
import { verifyExport } from '../../../src/cli/audit/verify-export.ts'
import { leafHash, packedHashes } from '../../../src/transparency/merkle.ts'
import { eventLine, heldHistory } from '../../support/held-history.ts'

const events = (count: number) => Array.from({ length: count }, (_, n) => eventLine(n))
const progress = () => undefined

/** A file with a history of so many events, and what can be done to it. */
const exported = async (t: Test, count: number) => {
  const path = join(t.testdir(), 'export')
  const history = heldHistory(events(count))
  await exportHistory({ history, organization: 'org-1', path, progress })
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return {
    path,
    history,
    lines,
    /** Where in the file each event is. */
    places: lines.flatMap((line, n) => (line.startsWith('{"data":') ? [n] : [])),
    async faultOf(changed: readonly string[]) {
      writeFileSync(path, `${changed.join('\n')}\n`)
      const { fault } = await verifyExport(path, {})
      return fault
    },
  }
}

t.test('an export verifies, whatever its length, and a resumed one is the same', async (t) => {
  for (const count of [0, 1, 2, 255, 256, 257, 512, 700]) {
    const { path, history } = await exported(t, count)
    const complete = readFileSync(path)
    const verdict = await verifyExport(path, { rootAt: count })
    t.match(verdict, { checkpoint: { size: count }, header: { organization_id: 'org-1' } })
    t.equal(verdict.fault, undefined, `${count} events`)
    t.strictSame(verdict.rootAt, verdict.checkpoint.root)
    for (const cut of [0, 0.3, 0.6, 0.9, 1]) {
      truncateSync(path, Math.floor(complete.length * cut))
      const part = readFileSync(path, 'utf8')
      if (cut > 0 && !part.includes('\n')) continue
      await exportHistory({ history, organization: 'org-1', path, progress })
      t.ok(readFileSync(path).equals(complete), `${count} events, from ${cut} of it`)
    }
  }
})

t.test('a tree of three levels of tiles', async (t) => {
  const count = 65_536 + 300
  const { path, lines, places, faultOf, history } = await exported(t, count)
  t.equal((await verifyExport(path, {})).fault, undefined)
  const complete = readFileSync(path)
  truncateSync(path, Math.floor(complete.length * 0.7))
  await exportHistory({ history, organization: 'org-1', path, progress })
  t.ok(readFileSync(path).equals(complete), 'goes on in the middle')
  const far = places[60_000] ?? 0
  t.match(await faultOf(lines.toSpliced(far, 1)), 'event 60000 was dropped')
  const upper = lines.findIndex((line) => line.startsWith('{"tile":[1,0]'))
  t.match(
    await faultOf(lines.toSpliced(upper, 1)),
    'the hashes over events 0 to 65535 were dropped',
  )
})

t.test('tampering with an export is named', async (t) => {
  const size = 600
  const { lines, places, faultOf } = await exported(t, size)
  const place = (n: number) => places[n] ?? lines.length
  const forged = eventLine(7).replace('BoxOpened', 'BoxForged')
  const moved = (from: number, to: number) =>
    lines.toSpliced(place(from), 1).toSpliced(place(to), 0, lines[place(from)] ?? '')
  const any = fc.integer({ min: 0, max: size - 1 })
  await fc.assert(
    fc.asyncProperty(any, any, async (a, b) => {
      const [n, m] = [Math.min(a, b), Math.max(a, b)]
      const line = (at: number) => lines[place(at)] ?? ''
      const cases: [string, string[], RegExp][] = [
        ['alter', lines.with(place(n), line(n).replace('BoxO', 'Boxo')), /^event N was altered/],
        ['blank', lines.with(place(n), line(n).replace(',', ', ')), /^event N was altered/],
        ['drop', lines.toSpliced(place(n), 1), /^event N was dropped/],
        ['forge', lines.toSpliced(place(n), 0, forged), /^an event was inserted before event N:/],
        [
          'copy',
          lines.toSpliced(place(n), 0, line(m)),
          /^an event was inserted before event [NP]:/,
        ],
        ['cut', lines.slice(0, place(n)), /^event N (was|and all after it were) dropped/],
        ['append', [...lines, forged], /^an event was inserted before event 600:/],
      ]
      if (n < m)
        cases.push(
          ['swap', lines.with(place(n), line(m)).with(place(m), line(n)), /^event N was reordered/],
          ['later', moved(n, m), /^event N was reordered/],
          [
            'earlier',
            lines.toSpliced(place(m), 1).toSpliced(place(n), 0, line(m)),
            /^events? .*reordered/,
          ],
        )
      for (const [name, changed, named] of cases) {
        const pattern = new RegExp(
          named.source.replace('[NP]', `(${n}|${n + 1})`).replace('N', `${n}`),
        )
        const fault = await faultOf(changed)
        if (!pattern.test(fault ?? '')) throw new Error(`${name} ${n} ${m}: ${fault}`)
      }
    }),
    { numRuns: 40 },
  )
  t.pass('at any place')
})

t.test('hashes in an export that were tampered with', async (t) => {
  const { path, history, lines, places, faultOf } = await exported(t, 600)
  const tile = (n: number) => lines.findIndex((line) => line.startsWith(`{"tile":[0,${n}]`))
  const altered = eventLine(300).replace('BoxOpened', 'BoxClosed')
  const hashes = (n: number) =>
    lines
      .slice(tile(n) + 1, tile(n) + 257)
      .map((line) => leafHash(line === eventLine(300) ? altered : line))
  const recorded = JSON.stringify({ tile: [0, 1], hashes: packedHashes(hashes(1)) })

  t.match(await faultOf(lines.with(tile(1), recorded)), /^the hashes of events 256 to 511 were alt/)
  t.match(await faultOf(lines.toSpliced(tile(1), 1)), /^the hashes of events 256 to 511 were dropp/)
  t.match(
    await faultOf(lines.with(tile(1), '{"tile":[0,1],"hashes":7}')),
    'the hashes of events 256',
  )
  t.match(
    await faultOf(lines.with(tile(2), '{"tile":[0,2],"hashes":""}')),
    'the hashes of events 512',
  )
  t.match(await faultOf(lines.toSpliced(tile(1), 257)), /^event 256 was dropped, and all up to 511/)
  t.match(
    await faultOf([...lines.slice(0, tile(1)), ...lines.slice(tile(2))]),
    /^event 256 was dropped, and all up to 511/,
  )
  const swapped = [
    ...lines.slice(0, tile(0)),
    ...lines.slice(tile(1), tile(2)),
    ...lines.slice(tile(0), tile(1)),
    ...lines.slice(tile(2)),
  ]
  t.match(await faultOf(swapped), /^event 0 was dropped, and all up to 255/)

  const both = lines.with(tile(1), recorded).with(places[300] ?? 0, altered)
  t.match(await faultOf(both), /^events 256 to 511 were altered, and so were their hashes/)
  const live = async () => history
  await t.rejects(verifyHistory({ path, live, progress }), {
    name: 'CommandFailed',
    message: /event 300 was altered: BoxClosed of box-org-1_b-1@300, position 900, id event-300$/,
  })
})

t.test('the header of an export', async (t) => {
  const { path, lines, faultOf } = await exported(t, 300)
  const [first = ''] = lines
  const header = JSON.parse(first)
  const other = heldHistory(events(299))
  const changed = [
    [{ ...header, organization_id: 'org-2' }, 'not of this organization'],
    [{ ...header, edge: header.edge.toReversed() }, 'do not come to the signed root'],
    [{ ...header, checkpoint: header.checkpoint.replace('300', '301') }, 'does not fit'],
    [{ ...header, key: header.key.replace(/.$/, 'A') }, 'the header was altered'],
    [{ ...header, reprise_export: 2 }, 'not the header of an export'],
  ] as const
  for (const [altered, message] of changed)
    await t.rejects(faultOf(lines.with(0, JSON.stringify(altered))), { name: 'NoExport', message })
  t.match(
    await faultOf(
      lines.with(0, JSON.stringify({ ...header, checkpoint: await other.checkpoint() })),
    ).catch(({ message }) => message),
    'do not come to the signed root',
  )
  writeFileSync(path, `${lines.join('\n')}\n`)
  await t.rejects(verifyExport(path, { vkey: 'other+1+A' }), { message: 'not signed with the key' })
  writeFileSync(path, '')
  await t.rejects(verifyExport(path, {}), { message: 'the file is empty' })
})

t.test('a checkpoint that was kept, and what the server says now', async (t) => {
  const { path, history } = await exported(t, 300)
  const checkpointFile = `${path}-checkpoint`
  const live = (lines: readonly string[]) => async () => heldHistory(lines)
  const keep = async (lines: readonly string[]) =>
    writeFileSync(checkpointFile, await heldHistory(lines).checkpoint())
  const forged = events(300).with(5, eventLine(5).replace('BoxOpened', 'BoxClosed'))

  await keep(events(170))
  t.match(await verifyHistory({ path, checkpoint: checkpointFile, progress }), [
    '300 events of reprise/org-1 are as they were signed',
    /as the export itself says/,
    'the checkpoint of 170 events is of the same history',
  ])
  const vkey = await history.key()
  t.match(await verifyHistory({ path, vkey, live: live(events(450)), progress }), [
    '300 events of reprise/org-1 are as they were signed',
    `signed with ${vkey}`,
    "the server's history of 450 events goes on from there",
    'the 450 events that it serves are as it has signed them',
  ])
  await keep(forged.slice(0, 170))
  await t.rejects(verifyHistory({ path, checkpoint: checkpointFile, progress }), {
    message: 'of another history',
  })
  await keep(events(400))
  await t.rejects(verifyHistory({ path, checkpoint: checkpointFile, progress }), {
    message: 'ask a server',
  })
  t.match(
    await verifyHistory({ path, checkpoint: checkpointFile, live: live(events(400)), progress }),
    {
      length: 5,
    },
  )
  await t.rejects(verifyHistory({ path, live: live([...forged, eventLine(300)]), progress }), {
    message: 'the history of 300 events was rewritten',
  })
  await t.rejects(verifyHistory({ path, live: live(events(200)), progress }), {
    message: 'was cut',
  })
  appendFileSync(checkpointFile, 'x')
  await t.rejects(verifyHistory({ path, checkpoint: checkpointFile, progress }), {
    message: 'cannot be trusted',
  })
})

t.test('an export is not written over another file, nor from a source that lies', async (t) => {
  const path = join(t.testdir(), 'export')
  const history = heldHistory(events(300))
  writeFileSync(path, 'my diary\n')
  const writing = (history: ReturnType<typeof heldHistory>, path: string) =>
    exportHistory({ history, organization: 'org-1', path, progress })
  await t.rejects(writing(history, path), { message: 'is no export of org-1' })
  t.equal(readFileSync(path, 'utf8'), 'my diary\n')

  const other = heldHistory(events(300).with(9, eventLine(8)))
  const lying = `${path}-2`
  await t.rejects(writing({ ...history, lines: other.lines }, lying), {
    message: /contradicts .*: event 9 was .* id event-8$/,
  })
  await t.rejects(writing({ ...history, hashes: other.hashes }, `${path}-3`), {
    message: 'contradicts',
  })
  t.equal(await writing(history, lying), 300, 'what was whole is kept')
  t.equal((await verifyExport(lying, {})).fault, undefined)
})

t.test('an event that a server has falsified is named, wherever it is', async (t) => {
  const { path } = await exported(t, 300)
  for (const [size, n] of [
    [300, 0],
    [300, 7],
    [700, 255],
    [700, 511],
    [700, 512],
    [700, 699],
  ] as const) {
    const history = heldHistory(events(size))
    const forged = events(size).with(n, eventLine(n).replace('BoxOpened', 'BoxClosed'))
    const { lines, hashes } = heldHistory(forged)
    const verifying = (lie: object) =>
      verifyHistory({ path, live: async () => ({ ...history, ...lie }), progress })
    const name = `BoxClosed of box-org-1_b-1@${n}, position ${n * 3}, id event-${n}`
    await t.rejects(verifying({ lines }), {
      name: 'CommandFailed',
      message: `what the server serves is not what it has signed: event ${n} was altered: ${name}`,
    })
    await t.rejects(verifying({ lines, hashes }), { name: 'CommandFailed', message: 'altered' })
    const cut = heldHistory(events(n))
    await t.rejects(verifying({ lines: cut.lines }), { message: `event ${n} was dropped` })
  }
})
