import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { z } from 'zod'
import { spokenIn, stemOf } from '../../src/support/languages.ts'
import type { Language } from '../../src/support/stop-words.ts'
import { wordsIn } from '../../src/support/words.ts'
import { declaration, declarations } from './declarations.ts'

const each = Object.entries(declarations) as [Language, string][]

/** SHA-256 of the stems that PyStemmer 3.1.0 (Snowball 3.1) gives for a declaration's words. */
const stems = z
  .record(z.string(), z.string())
  .parse(JSON.parse(await readFile('test/fixtures/declarations/stems.json', 'utf8')))

for (const [language, name] of each)
  t.test(`a document in ${language} is known by its function words`, async (t) => {
    const texts = (await declaration(name)).map(({ text }) => text)
    const words = wordsIn(texts.join('\n'))
    const script = words[0]?.script
    t.equal(script && spokenIn(words)[script], language)
    const distinct = [...new Set(texts.join(' ').toLowerCase().split(/\s+/))].sort()
    const stemmed = distinct.map((word) => stemOf(word, language))
    const expected = stems[language]
    if (expected)
      t.equal(createHash('sha256').update(stemmed.join('\n')).digest('hex'), expected, 'stems')
    else t.strictSame(stemmed, distinct, 'without a stemmer, words stay as they are')
  })

t.test(
  'a text that does not tell is in the known language, or the usual one of its script',
  (t) => {
    t.equal(spokenIn(wordsIn('Rechnungen bezahlen')).Latn, 'en')
    t.equal(spokenIn(wordsIn('Rechnungen bezahlen'), { Latn: 'de' }).Latn, 'de')
    t.equal(spokenIn(wordsIn('Der Zug und die Bahn'), { Latn: 'en' }).Latn, 'de')
    t.end()
  },
)
