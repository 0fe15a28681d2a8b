import iconv from 'iconv-lite'
import t, { type Test } from 'tap'
import type { FileType } from '../../../src/domain/file/types.ts'
import type { Block } from '../../../src/rag/block.ts'
import { chunksOf } from '../../../src/rag/chunk.ts'
import { parse } from '../../../src/rag/parse/parse.ts'
import { docxOf, pdfOf, pptxOf } from '../../support/documents.ts'

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const slides = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'
const bytesOf = (text: string) => new TextEncoder().encode(text)
const read = (given: string | Uint8Array, type: FileType): Promise<Block[]> =>
  parse(typeof given === 'string' ? bytesOf(given) : given, type)
const refused = (t: Test, given: string | Uint8Array, type: FileType, message: RegExp) =>
  t.rejects(read(given, type), { name: 'Unreadable', message })

t.test('text in paragraphs, with their lines', async (t) => {
  t.strictSame(await read('One\r\ntwo\r\n\r\n\r\nThree', 'text/plain'), [
    { text: 'One\ntwo', place: 'line 1' },
    { text: 'Three', place: 'line 5' },
  ])
  await refused(t, new Uint8Array([0, 1, 2, 3]), 'text/plain', /not text/)
})

t.test('text in any encoding', async (t) => {
  const text =
    'Příliš žluťoučký kůň úpěl ďábelské ódy. Nechť již hříšné saxofony ďáblů rozezvučí síň.'
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be', 'windows-1250']) {
    const bytes = iconv.encode(text, encoding, { addBOM: encoding.startsWith('utf') })
    const [block] = await read(bytes, 'text/plain')
    t.equal(block?.text.replace(/^\uFEFF/, ''), text, encoding)
  }
  const page = iconv.encode('<meta charset="koi8-r"><p>Привет</p>', 'koi8-r')
  t.match(await read(page, 'text/html'), [{ text: 'Привет' }])
})

t.test('Markdown: headings, lists, code, tables', async (t) => {
  const blocks = await read(
    '# One\n\nA **bold** [link](http://x) in snake_case.\n\n- first\n- second\n\n```\ncode()\n```\n\n## Two\n\n| a | b |\n|---|---|\n| c | d |\n',
    'text/markdown',
  )
  t.match(blocks, [
    { text: 'One', level: 1, place: 'line 1' },
    { text: 'A bold link in snake_case.', place: 'line 3' },
    { text: /first\n- second/, place: 'line 5' },
    { text: 'code()', place: 'line 8' },
    { text: 'Two', level: 2, place: 'line 12' },
    { text: /c \| d/, place: 'line 14' },
  ])
})

t.test('Markdown: entities, marks inside words, and what stands beside text', async (t) => {
  const cases: [markdown: string, text: string][] = [
    ['un*believ*able, **B**old, __not__ snake_case', 'unbelievable, Bold, not snake_case'],
    [
      'Fish &amp; Chips &copy; &#8364; 5&nbsp;000 &unknown;',
      'Fish & Chips © € 5\u00a0000 &unknown;',
    ],
    ['\\*literal\\* and `code &amp; *more*`', '*literal* and code &amp; *more*'],
    ['H<sub>2</sub>O<br>and<!-- c --> <b>more</b>', 'H2O and more'],
    ['[*A* link](http://x) and ![a picture &lt;](y)', 'A link and a picture <'],
    ['> said &amp; *done*\n>\n> - by him', 'said & done\n\n- by him'],
    ['3. three\n4. four\n   - below &lt;', '3. three\n4. four\n- below <'],
    ['- [x] do*ne*', '- done'],
    ['| a &amp; | b\\|c |\n|---|---|\n| *d* | `e` |', 'a & | b|c\nd | e'],
    ['<div title="x">A &amp; B</div>\n<!-- a > b -->', 'A & B'],
  ]
  for (const [markdown, text] of cases) {
    const [block] = await read(markdown, 'text/markdown')
    t.equal(block?.text.trim(), text, markdown)
  }
})

t.test('HTML: headings and paragraphs, without what is not read', async (t) => {
  const blocks = await read(
    '<title>Shop</title><nav>Home</nav><h1>Prices &amp; terms</h1><p>Tea<br>two<script>bad()</script><h2>More</h2><table><tr><td>a</td><td>b</td></tr></table><style>p{}</style>',
    'text/html',
  )
  t.match(blocks, [
    { text: 'Shop', level: 0 },
    { text: 'Prices & terms', level: 1 },
    { text: 'Tea\ntwo' },
    { text: 'More', level: 2 },
    { text: /a \| b/ },
  ])
  t.notMatch(JSON.stringify(blocks), /bad\(\)|p\{\}|Home/)
  await refused(t, `${'<div>'.repeat(600)}x`, 'text/html', /deeper than 500/)
  t.match(await read(`<ul>${'<li>x'.repeat(2_000)}</ul>`, 'text/html'), [{ text: /x/ }])
})

t.test('JSON and JSON Lines: a value per line, after the names that lead to it', async (t) => {
  t.strictSame(await read('{"shop":{"name":"A","open":[8,18]},"a b":null}', 'application/json'), [
    { text: 'shop name: A\nshop open: 8\nshop open: 18', place: '$.shop' },
    { text: 'a b: null', place: '$["a b"]' },
  ])
  t.strictSame(await read('[{"id":1},"two"]', 'application/json'), [
    { text: 'id: 1', place: '$[0]', part: 0 },
    { text: 'two', place: '$[1]', part: 1 },
  ])
  t.strictSame(await read('{"id":1}\n\n{"id":2}\n', 'application/x-ndjson'), [
    { text: 'id: 1', place: 'line 1', part: 0 },
    { text: 'id: 2', place: 'line 3', part: 2 },
  ])
  await refused(t, '{"id":', 'application/json', /not valid JSON/)
  await refused(t, '{}\n{"id":', 'application/x-ndjson', /JSON in line 2/)
  await refused(t, '['.repeat(600) + ']'.repeat(600), 'application/json', /deeper than 500/)
})

t.test('JSON: numbers are as they are written', async (t) => {
  const numbers = ['12345678901234567891', '1e400', '-0', '1.0', '0.1e-7', '-12.50E+3', '0']
  for (const number of numbers) {
    t.match(await read(`{"n":${number}}`, 'application/json'), [{ text: `n: ${number}` }])
    t.match(await read(`[ ${number} , "${number} \\" 7"]`, 'application/json'), [
      { text: number },
      { text: `${number} " 7` },
    ])
    t.match(await read(number, 'application/json'), [{ text: number, place: '$' }])
    t.match(await read(`{"a":[${number}]}`, 'application/x-ndjson'), [{ text: `a: ${number}` }])
  }
  const many = Array.from({ length: 10_000 }, (_, n) => n)
  const [block] = await read(JSON.stringify({ many }), 'application/json')
  t.equal(block?.text, many.map((n) => `many: ${n}`).join('\n'))
  const invalid = [
    '01',
    '1.',
    '.5',
    '-',
    '+1',
    '1e',
    '1 2',
    '0x1',
    '1a',
    '{1:2}',
    '{ 12 : 3}',
    '[1"a"]',
  ]
  for (const json of invalid) await refused(t, json, 'application/json', /not valid JSON/)
})

t.test('a control character separates words, whatever the format', async (t) => {
  for (const [character, escaped] of [
    ['\v', '\\u000b'],
    ['\f', '\\f'],
    ['\x1e', '\\u001e'],
    ['\x07', '\\u0007'],
    ['\0', '\\u0000'],
    ['\r', '\\r'],
    ['\x7f', '\\u007f'],
    ['\x85', '\\u0085'],
  ] as const) {
    const texts: [string, FileType][] = [
      [`one${character}two and more of the text`, 'text/plain'],
      [`one${character}two and more of the text`, 'text/markdown'],
      [`<p>one${character}two and more of the text</p>`, 'text/html'],
      [`{"a":"one${escaped}two and more of the text"}`, 'application/json'],
      [`{"a":"one${escaped}two and more of the text"}`, 'application/x-ndjson'],
    ]
    for (const [text, type] of texts) {
      const [chunk] = chunksOf(await read(text, type))
      t.match(chunk?.text, /^(?:a: )?one\s(?:\s)?two /, `${escaped} in ${type}`)
    }
  }
})

t.test('Word: headings and paragraphs', async (t) => {
  const blocks = await read(docxOf(['# Terms', 'Tea & cake', 'Second']), word)
  t.match(blocks, [{ text: 'Terms', level: 1 }, { text: 'Tea & cake' }, { text: 'Second' }])
  await refused(t, 'no archive', word, /damaged/)
  await refused(t, pptxOf([{ title: 'a', text: 'b' }]), word, /not a Word document/)
  const older = new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1])
  await refused(t, older, word, /encrypted/)
})

t.test('presentations: slides in the order in which they are shown', async (t) => {
  const blocks = await read(
    pptxOf([
      { title: 'First', text: 'Tea & cake' },
      { title: 'Second', text: 'Ends' },
    ]),
    slides,
  )
  t.match(blocks, [
    { text: 'First', level: 1, place: 'slide 1', part: 1 },
    { text: 'Tea & cake', place: 'slide 1' },
    { text: 'Second', level: 1, place: 'slide 2', part: 2 },
    { text: 'Ends', place: 'slide 2' },
  ])
  await refused(t, docxOf(['x']), slides, /no slides/)
})

t.test('PDF: page by page', async (t) => {
  t.match(await read(pdfOf(['The first (page)', 'The second']), 'application/pdf'), [
    { text: 'The first (page)', place: 'page 1', part: 1 },
    { text: 'The second', place: 'page 2', part: 2 },
  ])
  await refused(t, pdfOf(['']), 'application/pdf', /no text/)
  await refused(t, '%PDF-1.4 and nothing of it', 'application/pdf', /damaged/)
  const locked = pdfOf(
    ['secret'],
    `/Encrypt<</Filter/Standard/V 1/R 2/O<${'ab'.repeat(32)}>/U<${'cd'.repeat(32)}>/P -4>>/ID[<00><00>]`,
  )
  await refused(t, locked, 'application/pdf', /encrypted/)
})
