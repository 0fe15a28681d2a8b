import { randomUUID } from 'node:crypto'
import t from 'tap'
import { appendRequest } from '../../../src/adapters/eventstoredb/append-request.ts'
import { metadata } from '../../support/recorded.ts'

t.test('an append has no deadline', async (t) => {
  const event = { id: randomUUID(), type: 'BoxOpened', data: {}, metadata }
  const { message } = appendRequest('box-org-1_b-1', 0, [event])
  t.equal(message(randomUUID()).getOptions()?.hasDeadline(), false)
})
