import t from 'tap'
import { trimmed } from '../../src/agents/context.ts'
import { piecesIn, piecesOf } from '../../src/agents/tokens.ts'
import type { ChatMessage } from '../../src/ports/model.ts'

t.test('pieces', async (t) => {
  const counts: [string, number][] = [
    ['', 0],
    ['one two', 2],
    ['one, two!', 4],
    ['internationalization', 3],
    ['日本語', 3],
    ['Grüße', 1],
    [' \n\t', 0],
  ]
  for (const [text, count] of counts) t.equal(piecesIn(text), count, text)
})

t.test('a conversation is trimmed from its oldest end', async (t) => {
  const system: ChatMessage = { role: 'system', content: 'Rules' }
  const history: ChatMessage[] = [
    { role: 'user', content: 'one' },
    system,
    { role: 'assistant', content: 'two', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c', name: 'f', content: 'three' },
    { role: 'user', content: 'four' },
  ]
  const [first, , third, fourth, fifth] = history
  t.strictSame(trimmed(history, 1000), history)
  const each = piecesOf(system)
  t.strictSame(trimmed(history, each), [system])
  t.strictSame(trimmed(history, 2 * each), [system, fifth])
  t.strictSame(trimmed(history, 3 * each), [system, fifth], 'no answer without its call')
  const call = third ? piecesOf(third) : 0
  t.strictSame(trimmed(history, 3 * each + call), [system, third, fourth, fifth])
  t.ok(first)
})
