import t from 'tap'
import { exportLines } from '../../queries/export-lines.ts'
import { getEntries } from '../../queries/get-entries.ts'
import { readEvents } from '../../queries/read-events.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { lineOf } from '../../src/transparency/leaf.ts'
import { folded, treesIn } from '../support/folded-trees.ts'
import { eventIndexOf, heldLog, historyOn } from '../support/held-log.ts'
import { gathered } from '../support/noted.ts'
import { opened } from '../support/opened.ts'
import { metadata } from '../support/recorded.ts'

t.test('the events of an organization are found among those of others', async (t) => {
  const { store } = await opened(t)
  let made = 0
  const append = (organization_id: string, count: number) =>
    store.append(
      `box-${organization_id}_b-1`,
      'any',
      Array.from({ length: count }, () => ({
        id: `event-${made++}`,
        type: 'BoxOpened',
        data: { n: made },
        metadata: { ...metadata, organization_id },
      })),
    )
  for (const others of [0, 2_500, 1, 400, 3_000]) {
    if (others > 0) await append('org-2', others)
    await append('org-1', 90)
  }
  const log = await gathered(store.history(START))
  const readTree = treesIn(await folded(log, [100]))
  const own = log.filter(({ stream }) => stream.startsWith('box-org-1'))
  const text = (events: readonly RecordedEvent[]) =>
    events.map((event) => `${lineOf(event)}\n`).join('')

  const { eventIndex } = await eventIndexOf(store)
  const reading = readEvents({
    eventsAt: store.at,
    eventIndex,
    readHistory: await historyOn(store),
  })
  const uses = { readTree, readEvents: reading }
  const lines = async (from: number, to?: number) => {
    let found = ''
    for await (const part of await exportLines(uses)('org-1', from, to)) found += part
    return found
  }
  t.equal(await lines(0), text(own))
  t.equal(await lines(85, 275), text(own.slice(85, 275)))
  t.equal(await lines(450), '')
  const bundle = await getEntries(uses)('org-1', { n: 1, width: 194 })
  t.equal(bundle.length, 2 * 194 + Buffer.byteLength(text(own.slice(256))) - 194)

  const gone = own[100]?.position
  const damaged = heldLog(log.filter(({ position }) => position !== gone))
  const readHistory = await historyOn(damaged)
  const bundles = getEntries({
    readTree,
    readEvents: readEvents({ eventsAt: damaged.at, eventIndex, readHistory }),
  })
  await t.rejects(bundles('org-1', { n: 0, width: 256 }), {
    name: 'StoreDamaged',
    message: `no event at position ${gone}`,
  })
})
