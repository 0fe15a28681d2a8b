import t from 'tap'
import { recall } from '../support/recall.ts'

t.test('the passage that answers is among the first five', async (t) => {
  const { share, missed, questions } = await recall(t.testdir(), 5)
  t.ok(questions >= 25)
  t.ok(share >= 0.9, `missed: ${missed.join(' / ')}`)
  t.comment(`recall@5 ${share.toFixed(2)} of ${questions} questions`)
})
