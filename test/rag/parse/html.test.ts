import t from 'tap'
import { chunksOf } from '../../../src/rag/chunk.ts'
import { parse } from '../../../src/rag/parse/parse.ts'

const read = (html: string) => parse(new TextEncoder().encode(html), 'text/html')
const passages = async (html: string) => [...chunksOf(await read(html))].map(({ text }) => text)
const textOf = async (html: string) =>
  (await read(html)).flatMap(({ text }) => text.trim().split(/\s+/)).join(' ')

t.test('the title is a heading, and text outside the body is read', async (t) => {
  const page = 'before<html><head><title>Shop</title></head><body>inside</body></html>after'
  const blocks = await read(page)
  t.match(
    blocks.map(({ text, level }) => [text, level]),
    [
      ['before', undefined],
      ['Shop', 0],
      ['inside', undefined],
      ['after', undefined],
    ],
  )
})

t.test('alternative texts are read where the picture stands', async (t) => {
  const page =
    '<p>See <img src="a.png" alt="A red boat">here<svg><title>Wind</title><path/></svg>now<input type="image" alt="Go"></p>'
  t.equal(await textOf(page), 'See A red boat here Wind now Go')
})

t.test('every element that is shown as a block separates words', async (t) => {
  const names =
    'address article aside blockquote button caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h6 header hgroup legend li main menu ol option p pre search section select summary td textarea th tr ul'
  for (const name of names.split(' '))
    t.match(await textOf(`one<${name}>two</${name}>three`), /^one (?:- )?two three$/, name)
  t.equal(await textOf('one<br>two<hr>three'), 'one two three')
  for (const name of 'a abbr b em font i my-element small span strong sub sup u wbr'.split(' '))
    t.equal(await textOf(`one<${name}>two</${name}>`), 'onetwo', `${name} does not`)
})

t.test('text that is laid out keeps its lines', async (t) => {
  t.match(await read('<pre>one\n  two</pre><p>three\nfour</p>'), [
    { text: 'one\n  two' },
    { text: 'three four' },
  ])
})

t.test('a heading that is not closed ends with its line', async (t) => {
  t.match(await read('<h1>Terms<p>First<h2><div>Part</div></h2>Second'), [
    { text: 'Terms', level: 1 },
    { text: 'First' },
    { text: 'Part', level: 2 },
    { text: 'Second' },
  ])
})

t.test('a row of a table is one line, and every passage repeats the header', async (t) => {
  const row = (n: number) => `<tr><td><p>Person ${n}</p><p>Junior</p><td>Street<br>${n}</tr>`
  const rows = Array.from({ length: 200 }, (_, n) => row(n)).join('')
  const named = await passages(`<table><thead><tr><td>Name<td>Street</thead><tbody>${rows}</table>`)
  t.ok(named.length > 2)
  for (const text of named) t.match(text, /^Name \| Street\nPerson \d+ Junior \| Street \d+\n/)
  const headings = await read(`<table><tr><th>a<th>b<tr><th>c<td>d</table>`)
  t.match(headings, [
    { text: 'a | b', header: 'a | b' },
    { text: 'c | d', header: 'a | b' },
  ])
})

t.test('a table that is used for layout is read as paragraphs', async (t) => {
  const page =
    '<table><tr><td><h2>News</h2>Rain<td><table><tr><td>a<td>b</table>Sun<tr><td>End</table>'
  t.match(await read(page), [
    { text: 'News', level: 2 },
    { text: 'Rain' },
    { text: 'a | b' },
    { text: 'Sun' },
    { text: 'End' },
  ])
})

t.test('cells without rows, and rows without tables, lose nothing', async (t) => {
  t.equal(await textOf('<table><td>a<td>b</table>'), 'a | b')
  t.equal(await textOf('<tr><td>a</td><td>b</td></tr>'), 'a b')
  t.equal(await textOf('<table>x<tr>y<td>a</td>z</tr>w</table>'), 'x y a z w')
})

t.test('pages made to do harm cost no more than their text', async (t) => {
  t.match(await read('<p>x'.repeat(100_000)), { length: 100_000 })
  t.match(await read(`${'<b>x</b>'.repeat(100_000)}</i>`.repeat(2)), { length: 1 })
  t.match(await read(`<h1>${' <p>'.repeat(200_000)}x`), [{ text: 'x', level: 1 }])
  await t.rejects(read('<b>'.repeat(600)), { message: /nested deeper than 500/ })
  t.match(await read(`<td ${'a=1 '.repeat(100_000)}>x`), { length: 1 })
})
