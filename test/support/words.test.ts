import t from 'tap'
import { plain, wordsIn } from '../../src/support/words.ts'

const texts = (text: string) => wordsIn(text).map((word) => word.text)

t.test('words have one form, however they are encoded', (t) => {
  for (const [text, words] of [
    ['Ｆｕｌｌ ｗｉｄｔｈ, ﬁne Ⅳ', ['full', 'width', 'fine', 'iv']],
    ['re\u0301sume\u0301', ['résumé']],
    ['co\u00adope\u00adra\u200dtion', ['cooperation']],
    ['zero\u200bwidth', ['zero', 'width']],
    ['کتاب\u200cها', ['کتاب', 'ها']],
    ['كِتَابٌ العـــربية', ['كتاب', 'العربية']],
    ['שָׁלוֹם', ['שלום']],
    ['İSTANBUL', ['istanbul']],
    ['हिन्दी में', ['हिन्दी', 'में']],
    ['snake_case, e-mail', ['snake', 'case', 'e', 'mail']],
  ] as const)
    t.strictSame(texts(text), words, text)
  t.end()
})

t.test('scripts without spaces are taken apart, and words of others in them are whole', (t) => {
  t.strictSame(texts('東京 木'), ['東', '東京', '京', '木'])
  t.strictSame(texts('iPhoneを'), ['iphone', 'を'])
  t.strictSame(texts('집에'), ['집', '집에', '에'])
  t.strictSame(texts('ภาษาไทย'), ['ภาษา', 'ไทย'])
  t.end()
})

t.test('words without accents are as people type them', (t) => {
  for (const [word, expected] of [
    ['café', 'cafe'],
    ['straße', 'strasse'],
    ['łódź', 'lodz'],
    ['ısparta', 'isparta'],
    ['άνθρωπος', 'ανθρωποσ'],
    ['ёлка', 'елка'],
    ['край', 'край'],
    ['أحمد', 'احمد'],
    ['हिन्दी', 'हिन्दी'],
    ['ascii', 'ascii'],
  ] as const)
    t.equal(plain(word), expected)
  t.end()
})

t.test('long words and floods of marks are cut', (t) => {
  t.equal(texts('x'.repeat(1_000_000))[0]?.length, 64)
  const flood = `a${'\u0301\u0327'.repeat(500_000)}`
  t.ok((texts(flood)[0]?.length ?? 0) <= 17)
  t.strictSame(texts('\u0301'.repeat(1_000)), [])
  t.end()
})
