import { join } from 'node:path'
import t from 'tap'
import type { MessageView } from '../../projections/messages.ts'
import type { RunView } from '../../projections/runs.ts'
import { findAnswer } from '../../queries/find-answer.ts'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import { at } from '../support/positions.ts'

const place = t.testdir()

t.test('a run is found with its answer, or not yet', async (t) => {
  const views = embeddedViews(await openViewsEnv({ path: join(place, 'views') }))
  t.teardown(() => views.close())
  const runs = await views.view<RunView>({ name: 'runs', indexes: {} })
  const messages = await views.view<MessageView>({ name: 'messages', indexes: {} })
  const find = findAnswer({ runs, messages, open: ({ box }) => box })
  const store = (view: string, position: number, id: string, document: object) =>
    views.commit([{ view, position: at(position), changes: [{ id, document: { ...document } }] }])

  t.equal(await find('run-1'), undefined)
  await store('runs', 1, 'run-1', { status: 'cancelled', answer_id: null })
  t.match(await find('run-1'), { run: { status: 'cancelled' }, text: '' })
  await store('runs', 2, 'run-1', { status: 'completed', answer_id: 'message-1' })
  t.equal(await find('run-1'), undefined, 'the read model of messages is behind')
  await store('messages', 2, 'message-1', { content: { box: 'Hello' } })
  t.match(await find('run-1'), { run: { status: 'completed' }, text: 'Hello' })

  const calls = [{ id: 'call-1', name: 'weather', arguments: { box: '{"city":"Rome"}' } }]
  await store('messages', 3, 'message-1', { content: { box: '' }, tool_calls: calls })
  t.match(await find('run-1'), {
    calls: [{ id: 'call-1', name: 'weather', arguments: '{"city":"Rome"}' }],
  })
})
