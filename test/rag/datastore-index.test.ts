import { readFile } from 'node:fs/promises'
import t from 'tap'
import { z } from 'zod'
import { chunkLine, headLine } from '../../src/rag/chunk-lines.ts'
import { datastoreIndex } from '../../src/rag/datastore-index.ts'
import { vectorBlob } from '../../src/rag/vectors.ts'
import { declaration } from '../support/declarations.ts'

/** `bm25s`: how many are found by bm25s 0.3 with PyStemmer 3.1, with its best settings. */
const questionSets = z
  .record(
    z.string(),
    z.object({
      declaration: z.string(),
      bm25s: z.int(),
      questions: z.array(z.tuple([z.string(), z.int()])),
    }),
  )
  .parse(JSON.parse(await readFile('test/fixtures/declarations/questions.json', 'utf8')))

const loaded = async (index: ReturnType<typeof datastoreIndex>, name: string) => {
  const paragraphs = await declaration(name)
  const lines = paragraphs.map(({ text }) => chunkLine({ text, place: 'line 1', headings: [] }))
  index.add(name, Buffer.from([headLine(name), ...lines].join('')))
  return paragraphs
}

/** The articles of a declaration among the first five places. */
const articles = (
  index: ReturnType<typeof datastoreIndex>,
  name: string,
  paragraphs: Awaited<ReturnType<typeof loaded>>,
  question: string,
) =>
  index
    .search(question, 5)
    .filter(({ chunksBlob }) => chunksBlob === name)
    .map(({ chunk }) => paragraphs[chunk]?.article)

const together = datastoreIndex()

for (const [language, { declaration: name, bm25s, questions }] of Object.entries(questionSets))
  t.test(
    `questions in ${language} find their article at least as often as with bm25s`,
    async (t) => {
      const index = datastoreIndex()
      const paragraphs = await loaded(index, name)
      const missed = questions.filter(
        ([question, article]) => !articles(index, name, paragraphs, question).includes(article),
      )
      t.ok(questions.length - missed.length >= 0.99 * bm25s, `missed: ${missed.join(' / ')}`)
      t.ok(missed.length <= 1, `missed: ${missed.join(' / ')}`)
      await loaded(together, name)
    },
  )

t.test('questions find their article in a DataStore of all these languages', async (t) => {
  const missed: string[] = []
  let all = 0
  for (const { declaration: name, questions } of Object.values(questionSets)) {
    const paragraphs = await declaration(name)
    all += questions.length
    for (const [question, article] of questions)
      if (!articles(together, name, paragraphs, question).includes(article)) missed.push(question)
  }
  t.ok(missed.length <= 0.05 * all, `missed: ${missed.join(' / ')}`)
})

t.test('a document has the language of its first passages', async (t) => {
  const index = datastoreIndex()
  const passage = (text: string) => chunkLine({ text, place: 'line 1', headings: [] })
  const [first, second] = [passage('Die Kinder und der Hund sind im Haus'), passage('Verträge')]
  index.add('u-1', Buffer.from(`${headLine('u-1')}${first}`.slice(0, 60)))
  index.add('u-1', Buffer.from(`${headLine('u-1')}${first}${second}`.slice(60)))
  t.match(index.search('Vertrag', 5), [{ chunksBlob: 'u-1', chunk: 1 }])
})

t.test('dropped uploads are not found, and others are as before', async (t) => {
  const index = datastoreIndex()
  const vectors = (upload: string) => vectorBlob(upload, 'm', [Int8Array.of(1, 0)])
  for (const upload of ['u-1', 'u-2', 'u-3']) {
    const chunk = chunkLine({ text: `The zebra of ${upload}`, place: 'line 1', headings: [] })
    index.add(upload, Buffer.from(`${headLine(upload)}${chunk}`))
    index.addVectors(upload, vectors(upload))
  }
  t.equal(index.keep(['u-1', 'u-2', 'u-3']), 0)
  t.equal(index.keep(['u-2', 'u-3']), 1 / 3)
  t.notOk(index.has('u-1'))
  t.strictSame(
    index.search('zebra', 1).map(({ chunksBlob }) => chunksBlob),
    ['u-2'],
  )
  const alike = index.alike({ model: 'm', vector: Float32Array.of(1, 0) }, 5)
  t.strictSame(
    alike.map(({ chunksBlob }) => chunksBlob),
    ['u-2', 'u-3'],
  )
  const again = chunkLine({ text: 'The lion', place: 'line 1', headings: [] })
  index.add('u-1', Buffer.from(`${headLine('u-1')}${again}`))
  t.match(index.search('lion', 5), [{ chunksBlob: 'u-1', chunk: 0 }])
  t.equal(index.search('zebra', 5).length, 2)
})
