import t from 'tap'
import { chunk, endsWith, modelEvents, sse, textIn } from '../../support/provider-chunks.ts'

t.test('usage of unusual form is counted by ourselves, and costs no answer', async (t) => {
  const counted = { promptTokens: 5, completionTokens: 2 }
  for (const wrong of [
    undefined,
    null,
    'much',
    7,
    true,
    [],
    {},
    { total_tokens: 0, total_characters: 0 },
    { prompt_tokens: 7 },
    { completion_tokens: 3 },
    { prompt_tokens: 7, completion_tokens: null },
    { prompt_tokens: '7', completion_tokens: '3' },
    { prompt_tokens: 7.5, completion_tokens: 3.25 },
    { prompt_tokens: -7, completion_tokens: 3 },
    { prompt_tokens: 1e300, completion_tokens: 1e300 },
    { prompt_tokens: { text: 7 }, completion_tokens: [3] },
  ]) {
    const content = chunk({ content: 'Hello you' })
    for (const raw of [
      sse(
        chunk({ role: 'assistant' }, null, { usage: { prompt_tokens: 1, completion_tokens: 0 } }),
        content,
        endsWith('stop', { usage: wrong ?? {} }),
      ),
      sse(content, endsWith('stop', { usage: wrong })),
      sse(chunk({ content: 'Hello you' }, null, { usage: wrong }), endsWith('stop')),
      sse(content, endsWith('stop'), { usage: wrong }),
      JSON.stringify({
        choices: [{ message: { content: 'Hello you' }, finish_reason: 'stop' }],
        usage: wrong,
      }),
    ]) {
      const events = await modelEvents(t, { raw })
      t.equal(textIn(events), 'Hello you')
      t.match(events.at(-1), { type: 'done', usage: counted }, JSON.stringify(wrong))
    }
  }
})
