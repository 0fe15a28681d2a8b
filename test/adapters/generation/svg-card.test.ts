import t from 'tap'
import { svgCard } from '../../../src/adapters/generation/svg-card.ts'

const seed = Buffer.alloc(8)

t.test('a card is well-formed XML, whatever its prompt has', async (t) => {
  const prompt = 'a\0b\x08c\x0bd\x1fe\ufffef\uffffg\ud800h \udc00 <i> & "q" \u{1f98a}'
  const svg = Buffer.from(svgCard(prompt, seed)).toString()
  const title = /<title>(.*)<\/title>/.exec(svg)?.[1]
  const r = '\ufffd'
  t.equal(
    title,
    `a${r}b${r}c${r}d${r}e${r}f${r}g${r}h ${r} &#60;i&#62; &#38; &#34;q&#34; \u{1f98a}`,
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
  t.notMatch(svg, /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/)
})

t.test('title and lines of a card are cut between grapheme clusters', async (t) => {
  const flags = '🇩🇪'.repeat(100)
  const svg = Buffer.from(svgCard(`a${flags}`, seed)).toString()
  t.equal(/<title>(.*)<\/title>/.exec(svg)?.[1], `a${'🇩🇪'.repeat(49)}`)
  t.equal(/<text[^>]*>(.*?)<\/text>/.exec(svg)?.[1], `a${'🇩🇪'.repeat(8)}`)
})
