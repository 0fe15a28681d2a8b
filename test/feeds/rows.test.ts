import t from 'tap'
import { position } from '../../src/domain/event.ts'
import { upsert } from '../../src/feeds/item.ts'
import { columnsOf, valuesOf } from '../../src/feeds/rows.ts'

t.test('a change has a column for each field of its document', async (t) => {
  const fields = ['id', 'name', 'tags']
  t.strictSame(columnsOf(fields), ['op', 'id', 'position', 'document_id', 'name', 'tags'])
  const at = position.parse(7)
  t.strictSame(valuesOf(upsert('a', { id: 'b', name: 'c' }, at), fields), [
    'upsert',
    'a',
    7,
    'b',
    'c',
    undefined,
  ])
  const removed = { position: at, text: '{"op":"delete","id":"a","position":7}' }
  t.strictSame(valuesOf(removed, ['name']), ['delete', 'a', 7, undefined])
})
