import t from 'tap'
import { commanded } from '../support/commanded.ts'
import { gathered } from '../support/noted.ts'
import { platformCall } from '../support/recorded.ts'

t.test('an outage is an event of the installation', async (t) => {
  const { recordOutage, store } = await commanded(t)
  await recordOutage({ from: new Date('2026-01-01T00:00:00.000Z') }, platformCall)
  const events = await gathered(store.read('installation-keys'))
  t.match(events, [{ type: 'OutageEnded', data: { from: '2026-01-01T00:00:00.000Z' } }])
})
