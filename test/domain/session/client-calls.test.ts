import t from 'tap'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { decideSend, type Send } from '../../../src/domain/session/send.ts'
import { session } from '../../../src/domain/session/session.ts'
import { deciding } from '../../support/given.ts'

const sealed = (box: string) => ({ $sealed: 'session:org-1/s-1', box })
const cost = { promptTokens: 1, completionTokens: 2, charge: 3 }

const send: Omit<Send, 'content' | 'runId' | 'messageId'> = {
  viewer: { userId: 'user-1', onlyKeyId: null },
  keyId: 'key-1',
  hidden: undefined,
  agentId: 'agent-1',
  agent: 'Orchestrator',
  node: 'node-1',
  payerId: 'user-1',
}
const run = { agentId: 'agent-1', agent: 'Orchestrator', node: 'node-1', payerId: 'user-1' }

const says = (n: number) =>
  decideSend({ ...send, messageId: `m-${n}`, runId: `run-${n}`, content: sealed('Hi') })
const results = (...ids: string[]) =>
  ids.map((toolId) => ({
    messageId: `m-${toolId}`,
    toolId,
    content: sealed(`result of ${toolId}`),
  }))
const answers = (n: number, ...ids: string[]) =>
  decideSend({ ...send, messageId: `m-${ids[0]}`, runId: `run-${n}`, content: results(...ids) })

const calls = [
  { id: 'a', name: 'get_weather' },
  { id: 'b', name: 'get_time' },
]
const called = (n: number): SessionEvent[] => [
  { type: 'ClientToolsCalled', data: { runId: `run-${n}`, calls, state: sealed('state') } },
  {
    type: 'RunCompleted',
    data: { runId: `run-${n}`, finishReason: 'tool_calls', model: 'm', durationMs: 1, ...cost },
  },
]
const sent: SessionEvent[] = [
  { type: 'SessionCreated', data: { userId: 'user-1', keyId: 'key-1', hidden: false } },
  { type: 'UserMessageSent', data: { messageId: 'm-1', runId: 'run-1', content: sealed('Hi') } },
  { type: 'RunStarted', data: { runId: 'run-1', messageId: 'm-1', ...run, attempt: 1 } },
]
const waiting = [...sent, ...called(1)]
const goesOn = (n: number): SessionEvent[] => [
  ...calls.map(
    ({ id, name }): SessionEvent => ({
      type: 'ClientToolAnswered',
      data: {
        messageId: `m-${id}`,
        runId: `run-${n}`,
        toolId: id,
        tool: name,
        content: sealed(`result of ${id}`),
      },
    }),
  ),
  {
    type: 'RunStarted',
    data: { runId: `run-${n}`, messageId: 'm-a', ...run, attempt: 1, continues: 'run-1' },
  },
]
const failed = (n: number): SessionEvent => ({
  type: 'RunFailed',
  data: { runId: `run-${n}`, code: 'llm_service_unavailable', ...cost },
})
const completed = (n: number): SessionEvent => ({
  type: 'RunCompleted',
  data: { runId: `run-${n}`, finishReason: 'stop', model: 'm', durationMs: 1, ...cost },
})

t.test('the results of all open calls begin a run', async (t) => {
  const given = deciding(t, session)
  given(...waiting)
    .when(answers(2, 'a', 'b'))
    .emits(...goesOn(2))
  given(...waiting)
    .when(answers(2, 'a'))
    .refuses('invalid_tool_result')
  given(...waiting)
    .when(answers(2, 'a', 'a'))
    .refuses('invalid_tool_result')
  given(...waiting)
    .when(answers(2, 'a', 'b', 'c'))
    .refuses('invalid_tool_result')
  given(...sent, completed(1))
    .when(answers(2, 'a', 'b'))
    .refuses('invalid_tool_result')
  given().when(answers(2, 'a')).refuses('invalid_tool_result')
})

t.test('calls are answered once, unless the run with their results fails', async (t) => {
  const given = deciding(t, session)
  const again = decideSend({
    ...send,
    messageId: 'm-x',
    runId: 'run-3',
    content: results('a', 'b'),
  })
  given(...waiting, ...goesOn(2), completed(2))
    .when(again)
    .refuses('invalid_tool_result')
  const cancelled: SessionEvent = { type: 'RunCancelled', data: { runId: 'run-2', ...cost } }
  given(...waiting, ...goesOn(2), cancelled)
    .when(again)
    .refuses('invalid_tool_result')
  given(...waiting, ...goesOn(2), failed(2))
    .when(answers(3, 'a', 'b'))
    .emits({
      type: 'RunStarted',
      data: { runId: 'run-3', messageId: 'm-a', ...run, attempt: 1, continues: 'run-1' },
    })
  given(...waiting, ...goesOn(2), ...called(2), failed(3))
    .when(says(4))
    .emits(
      { type: 'ClientToolsUnanswered', data: { runId: 'run-2', calls } },
      {
        type: 'UserMessageSent',
        data: { messageId: 'm-4', runId: 'run-4', content: sealed('Hi') },
      },
      { type: 'RunStarted', data: { runId: 'run-4', messageId: 'm-4', ...run, attempt: 1 } },
    )
})

t.test('a run that its process left open is closed, and its calls are open again', async (t) => {
  const interrupted: SessionEvent = {
    type: 'RunFailed',
    data: { runId: 'run-2', code: 'interrupted', promptTokens: 0, completionTokens: 0, charge: 0 },
  }
  deciding(t, session)(...waiting, ...goesOn(2))
    .when(answers(3, 'a', 'b'))
    .emits(interrupted, {
      type: 'RunStarted',
      data: { runId: 'run-3', messageId: 'm-a', ...run, attempt: 1, continues: 'run-1' },
    })
})

t.test('a new message closes them', async (t) => {
  const given = deciding(t, session)
  const closed: SessionEvent = { type: 'ClientToolsUnanswered', data: { runId: 'run-1', calls } }
  given(...waiting, closed)
    .when(answers(2, 'a', 'b'))
    .refuses('invalid_tool_result')
})
