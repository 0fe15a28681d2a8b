import { join } from 'node:path'
import { recall } from '../test/support/recall.ts'
import type { Section } from './bench.ts'

/** Whether the passage that answers is among the first, on the questions of the fixture library. */
export const benchRetrieval: Section = async ({ dir }) => {
  const measured = []
  for (const among of [1, 5]) {
    const { share, questions } = await recall(join(dir, `recall-${among}`), among)
    const aim = among === 5 ? { aim: { least: 0.9 } } : {}
    measured.push({
      name: `recall@${among}, ${questions} questions, BM25`,
      value: share,
      unit: 'of 1',
      ...aim,
    })
  }
  return measured
}
