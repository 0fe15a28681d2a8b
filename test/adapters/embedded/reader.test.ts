import t from 'tap'
import type { EventLog } from '../../../src/adapters/embedded/log.ts'
import { logReader } from '../../../src/adapters/embedded/reader.ts'
import { StoreDamaged } from '../../../src/ports/event-store.ts'

const record = '["note-1",0,{},[["id","Noted",{}]]]'

/** A log whose one record is at a key, to which the index of its stream leads. */
const logAt = (key: unknown): EventLog => {
  const records = {
    get: () => record,
    getRange: () => [{ key, value: record }],
  }
  const streams = { getRange: () => [{ key: ['note-1', 0], value: key }] }
  const damagedAt = (position: number) => new StoreDamaged(`damaged at ${String(position)}`)
  return { records, streams, damagedAt } as unknown as EventLog
}

/** What damaged bytes of a key decode as. */
const noPositions = [7n, 62.000_274, Number.NaN, null, true, 'text', Symbol('s'), [7, 8]]

t.test('a record whose key is no position is damaged, however it is read', (t) => {
  for (const key of noPositions) {
    const reader = logReader(logAt(key))
    t.throws(() => reader.page(0, 100), StoreDamaged, `${String(key)}: page`)
    t.throws(() => reader.event(7), StoreDamaged, `${String(key)}: event`)
    t.throws(() => reader.slice('note-1', 0), StoreDamaged, `${String(key)}: slice`)
    t.throws(() => reader.find('note-1', 'id'), StoreDamaged, `${String(key)}: find`)
  }
  t.equal(logReader(logAt(7)).page(0, 100).length, 1)
  t.end()
})
