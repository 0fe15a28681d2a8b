import t from 'tap'
import type { Block } from '../../../src/rag/block.ts'
import { chunksOf } from '../../../src/rag/chunk.ts'
import { documentReader } from '../../../src/rag/document-reader.ts'
import { parse } from '../../../src/rag/parse/parse.ts'
import { wordOf } from '../../support/documents.ts'

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const read = (bytes: Uint8Array): Promise<Block[]> => parse(bytes, word)
const textsOf = async (...given: Parameters<typeof wordOf>): Promise<string[]> =>
  (await read(wordOf(...given))).map(({ text }) => text)

const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
const p = (...inside: string[]) => `<w:p>${inside.join('')}</w:p>`
const row = (...cells: string[]) =>
  `<w:tr>${cells.map((cell) => `<w:tc>${p(run(cell))}</w:tc>`).join('')}</w:tr>`

t.test('headings follow the name, the base and the outline level of their style', async (t) => {
  const style = (id: string, inside: string) =>
    `<w:style w:type="paragraph" w:styleId="${id}">${inside}</w:style>`
  const styles = `<w:styles>${[
    style('a', '<w:name w:val="heading 2"/>'),
    style('b', '<w:name w:val="Mine"/><w:basedOn w:val="a"/>'),
    style('c', '<w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr>'),
    style('d', '<w:name w:val="Title"/>'),
    style('e', '<w:name w:val="Loop"/><w:basedOn w:val="e"/>'),
  ].join('')}</w:styles>`
  const styled = (id: string) => p(`<w:pPr><w:pStyle w:val="${id}"/></w:pPr>`, run(id))
  const body = ['a', 'b', 'c', 'd', 'e'].map(styled).join('')
  const blocks = await read(wordOf(body, [['styles', 'word/styles.xml', styles]]))
  t.strictSame(
    blocks.map(({ text, level }) => [text, level]),
    [
      ['a', 2],
      ['b', 2],
      ['c', 3],
      ['d', 0],
      ['e', undefined],
    ],
  )
})

t.test('a document whose main part has any name and prefix is read', async (t) => {
  const blocks = await read(
    wordOf('<x:p><x:r><x:t>Tea &amp; cake</x:t></x:r></x:p>', [], 'Parts/Main2.xml'),
  )
  t.match(blocks, [{ text: 'Tea & cake', place: 'paragraph 1' }])
})

t.test('headers and footers are read once, in front of the text', async (t) => {
  const header = (text: string) => `<w:hdr>${p(run(text))}</w:hdr>`
  const blocks = await read(
    wordOf(p(run('Body')), [
      ['header', 'word/header1.xml', header('Confidential')],
      ['header', 'word/header2.xml', header('Confidential')],
      ['footer', 'word/footer1.xml', header('Acme, London')],
    ]),
  )
  t.match(blocks, [
    { text: 'Confidential', place: 'header' },
    { text: 'Acme, London', place: 'footer' },
    { text: 'Body', place: 'paragraph 1' },
  ])
  t.equal([...chunksOf(blocks)].at(-1)?.place, 'paragraph 1', 'no passage joins them')
})

t.test('results of fields, and the whole text of hyperlinks, are read', async (t) => {
  t.strictSame(
    await textsOf(
      p(
        `<w:fldSimple w:instr="AUTHOR">${run('Ada')}</w:fldSimple>`,
        '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "http://x"</w:instrText></w:r>',
        `<w:hyperlink>${run(' wrote ')}<w:smartTag>${run('notes')}</w:smartTag></w:hyperlink>`,
        `<w:ins>${run(' kept')}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>`,
        `<w:moveFrom>${run('moved')}</w:moveFrom>`,
      ),
    ),
    ['Ada wrote notes kept'],
  )
})

t.test('breaks, tabs, hyphens and symbols separate or join words as they show', async (t) => {
  const body = p(
    '<w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>',
    run('one'),
    '<w:r><w:tab/></w:r>',
    run('two'),
    '<w:r><w:br/></w:r>',
    run('co'),
    '<w:r><w:noBreakHyphen/></w:r>',
    run('op'),
    '<w:r><w:sym w:font="Wingdings" w:char="F0E0"/><w:sym w:font="Arial" w:char="20AC"/></w:r>',
  )
  t.strictSame(await textsOf(body), ['one\ttwo\nco-op€'])
})

t.test('equations are read in one line', async (t) => {
  const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
  const fraction = `<m:f><m:num>${r('a')}</m:num><m:den>${r('b')}</m:den></m:f>`
  const power = `<m:sSup><m:e>${r('x')}</m:e><m:sup>${r('2')}</m:sup></m:sSup>`
  const sum = `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${r('i')}</m:sub><m:sup>${r('n')}</m:sup><m:e>${r('i')}</m:e></m:nary>`
  const [text] = await textsOf(
    p(run('f = '), `<m:oMath>${fraction}${r('+')}${power}${sum}</m:oMath>`),
  )
  t.equal(text?.replaceAll(' ', ''), 'f=a/b+x^2∑_i^ni')
})

t.test('comments and notes follow the paragraph that refers to them, each once', async (t) => {
  const refer = (kind: string, id: number) => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`
  const body = [
    p(run('First'), refer('comment', 0), refer('footnote', 1)),
    p(run('Second'), refer('comment', 0), refer('endnote', 1)),
  ]
  const notes = (kind: string, id: number, text: string, more = '') =>
    `<w:${kind}s><w:${kind} w:id="${id}"${more}>${p(run(text))}</w:${kind}></w:${kind}s>`
  t.strictSame(
    await textsOf(body.join(''), [
      ['comments', 'word/comments.xml', notes('comment', 0, 'Check this', ' w:author="Ann"')],
      ['footnotes', 'word/footnotes.xml', notes('footnote', 1, 'See page 2')],
      ['endnotes', 'word/endnotes.xml', notes('endnote', 1, 'Printed in May')],
    ]),
    ['First', 'Ann: Check this', 'See page 2', 'Second', 'Printed in May'],
  )
})

t.test('alternative texts and text boxes are read, not their second form', async (t) => {
  const box = (text: string) => `<w:txbxContent>${p(run(text))}</w:txbxContent>`
  const body = p(
    run('Before '),
    `<w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:docPr id="1" descr="A red boat"/><pic:cNvPr id="1" descr="A red boat"/>${box('In a box')}</w:drawing></mc:Choice><mc:Fallback><w:pict>${box('In a box')}</w:pict></mc:Fallback></mc:AlternateContent></w:r>`,
    run(' after'),
  )
  const texts = (await textsOf(body)).map((text) => text.replace(/\s+/g, ' '))
  t.strictSame(texts, ['In a box', 'Before A red boat after'])
})

t.test('charts and SmartArt are read where they stand', async (t) => {
  const points = (values: string[]) =>
    values.map((value, n) => `<c:pt idx="${n}"><c:v>${value}</c:v></c:pt>`).join('')
  const series = (name: string, values: string[]) =>
    `<c:ser><c:tx><c:strRef><c:strCache>${points([name])}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>${points(['Q1', 'Q2'])}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>${points(values)}</c:numCache></c:numRef></c:val></c:ser>`
  const chart = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>${series('North', ['1', '2'])}${series('South', ['3', '4'])}</c:barChart></c:plotArea></c:chart></c:chartSpace>`
  const diagram =
    '<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>'
  const body = [
    p(run('Figures'), '<w:r><w:drawing><c:chart r:id="rId1"/></w:drawing></w:r>'),
    p(run('Steps'), '<w:r><w:drawing><dgm:relIds r:dm="rId2"/></w:drawing></w:r>'),
  ].join('')
  t.strictSame(
    await textsOf(body, [
      ['chart', 'word/charts/chart1.xml', chart],
      ['diagramData', 'word/diagrams/data1.xml', diagram],
    ]),
    ['Figures', 'Sales', '| North | South', 'Q1 | 1 | 3', 'Q2 | 2 | 4', 'Steps', 'Plan', 'Do'],
  )
})

t.test('newer kinds of charts, and titles that are taken from a cell, are read', async (t) => {
  const dimension = (name: string, points: string[]) =>
    `<cx:${name}Dim><cx:f>A1</cx:f><cx:lvl>${points.map((point, n) => `<cx:pt idx="${n}">${point}</cx:pt>`).join('')}</cx:lvl></cx:${name}Dim>`
  const chartEx = `<cx:chartSpace><cx:chartData><cx:data id="0">${dimension('str', ['Start', 'End'])}${dimension('num', ['5', '9'])}</cx:data></cx:chartData><cx:chart><cx:series><cx:tx><cx:txData><cx:v>Cash</cx:v></cx:txData></cx:tx></cx:series></cx:chart></cx:chartSpace>`
  const linked =
    '<c:chartSpace><c:title><c:tx><c:strRef><c:strCache><c:pt idx="0">\n<c:v>Linked</c:v>\n</c:pt></c:strCache></c:strRef></c:tx></c:title></c:chartSpace>'
  const body = ['rId1', 'rId2'].map((id) => p(`<w:r><cx:chart r:id="${id}"/></w:r>`)).join('')
  t.strictSame(
    await textsOf(body, [
      ['http://schemas.microsoft.com/office/2014/relationships/chartEx', 'word/c/1.xml', chartEx],
      ['chart', 'word/c/2.xml', linked],
    ]),
    ['Cash', 'Start | 5', 'End | 9', 'Linked'],
  )
})

t.test('a row of a table is one line, its cells separated', async (t) => {
  const cell = `<w:tc>${p(run('two'))}${p(run('lines'))}</w:tc>`
  const body = `<w:tbl>${row('Name', 'Age')}<w:tr>${cell}<w:tc>${p()}</w:tc></w:tr></w:tbl>${p(run('After'))}`
  t.match(await read(wordOf(body)), [
    { text: 'Name | Age', header: 'Name | Age' },
    { text: 'two lines |', header: 'Name | Age' },
    { text: 'After' },
  ])
})

t.test('cells that hold tables or headings are paragraphs', async (t) => {
  const inner = `<w:tbl>${row('a', 'b')}</w:tbl>`
  const body = `<w:tbl><w:tr><w:tc>${p(run('Left'))}${inner}${p(run('below'))}</w:tc><w:tc>${p(run('Right'))}</w:tc></w:tr></w:tbl>`
  t.strictSame(await textsOf(body), ['Left', 'a | b', 'below', 'Right'])
})

t.test('every passage of a table begins with its header', async (t) => {
  const rows = Array.from({ length: 200 }, (_, n) => row(`Person ${n}`, `Street ${n}`, `${n}`))
  const names = '<w:trPr><w:tblHeader/></w:trPr>'
  const table = `<w:tbl>${row('Name', 'Street', 'Age').replace('<w:tr>', `<w:tr>${names}`)}${rows.join('')}</w:tbl>`
  const chunks = [...chunksOf(await read(wordOf(table)))]
  t.ok(chunks.length > 4)
  for (const { text } of chunks) {
    t.match(text, /^Name \| Street \| Age\nPerson \d+ \| Street \d+ \| \d+\n/)
    t.equal(text.match(/Name/g)?.length, 1)
    t.notMatch(text, /\n\n/, 'rows are lines')
  }
})

t.test('a table of 4,000 rows is read within the memory of a process', async (t) => {
  const rows = Array.from({ length: 4_000 }, (_, n) =>
    row(...Array.from({ length: 6 }, (_, column) => `cell ${n} ${column}`)),
  )
  const reader = documentReader({ timeoutMs: 300_000 })
  t.teardown(() => reader.close())
  const bytes = [wordOf(`<w:tbl>${rows.join('')}</w:tbl>`)]
  const result = await reader.read({ bytes, fileType: word, uploadId: 'u-1' })
  if (!('lines' in result)) return t.fail(result.failed)
  t.match(Buffer.concat(result.lines).toString(), /cell 3999 0 \| .*cell 3999 5/)
})

t.test('documents made to do harm cost no more than their text', async (t) => {
  const deep = '<w:sdt>'.repeat(600)
  await t.rejects(read(wordOf(deep)), { message: /nested deeper than 500/ })
  const laughs = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
  const bomb = wordOf(p(run('x&b;')))
  t.match(await read(bomb), [{ text: 'x&b;' }], 'no entity is expanded')
  const loops = wordOf(p(run('A'), '<w:r><c:chart r:id="rId1"/></w:r>'.repeat(1_000)), [
    [
      'chart',
      'word/charts/c.xml',
      `${laughs}<c:chartSpace><a:p><a:t>Sales</a:t></a:p></c:chartSpace>`,
    ],
  ])
  t.match(await read(loops), { length: 2 }, 'a chart that is shown often is read once')
})
