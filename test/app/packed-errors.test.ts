import t from 'tap'
import { packedError, unpackedError } from '../../src/app/packed-errors.ts'
import { Refusal, refusal } from '../../src/domain/refusal.ts'
import { StoreDamaged, StoreUnavailable } from '../../src/ports/event-store.ts'
import { at } from '../support/positions.ts'

const sent = (error: unknown) => unpackedError(structuredClone(packedError(error)))

t.test('an error is answered alike on both sides', async (t) => {
  const refused = sent(refusal('invalid_query', { fields: { to: ['too far'] } }))
  t.ok(refused instanceof Refusal)
  t.match(refused, { code: 'invalid_query', facts: { fields: { to: ['too far'] } } })
  t.ok(sent(new StoreUnavailable('not now')) instanceof StoreUnavailable)
  const damaged = sent(new StoreDamaged('there', { position: at(7) }))
  t.ok(damaged instanceof StoreDamaged)
  t.match(damaged, { message: 'there', position: 7 })
  t.match(sent(new StoreDamaged('somewhere')), { position: undefined })
  t.match(sent(Object.assign(new Error('odd'), { name: 'UnknownEvent' })), {
    name: 'UnknownEvent',
    message: 'odd',
  })
  t.match(sent('text'), { name: 'Error', message: 'text' })
})
