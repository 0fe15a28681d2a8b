import t from 'tap'
import { chunksOf } from '../../../src/rag/chunk.ts'
import { parse } from '../../../src/rag/parse/parse.ts'
import { presentationOf } from '../../support/documents.ts'

const type = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'
const read = (...given: Parameters<typeof presentationOf>) => parse(presentationOf(...given), type)
const textsOf = async (...given: Parameters<typeof presentationOf>) =>
  (await read(...given)).map(({ text }) => text.replace(/[^\S\n]+/g, ' '))

const p = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
const shape = (inside: string, placeholder = 'body') =>
  `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Shape"/><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody>${inside}</p:txBody></p:sp>`

t.test('a break within a paragraph separates words', async (t) => {
  const shapes = shape('<a:p><a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>')
  t.strictSame(await textsOf([{ shapes }]), ['', 'one\ntwo'])
})

t.test('the title comes first, and the number that a slide shows is left out', async (t) => {
  const shapes = `${shape(p('Body'))}${shape(p('7'), 'sldNum')}${shape(p('Main') + p('point'), 'ctrTitle')}`
  t.match(await read([{ shapes }]), [
    { text: 'Main point', level: 1, place: 'slide 1', part: 1 },
    { text: 'Body' },
  ])
})

t.test('a slide without a title does not go under the one before', async (t) => {
  const blocks = await read([
    { shapes: shape(p('Sales'), 'title') + shape(p('Ten')) },
    { shapes: shape(p('Twenty')) },
  ])
  t.match(
    [...chunksOf(blocks)],
    [
      { text: 'Ten', headings: ['Sales'] },
      { text: 'Twenty', headings: [] },
    ],
  )
})

t.test('notes and comments are read with their slide', async (t) => {
  const notes = `<p:notes><p:cSld><p:spTree>${shape(p('Say it slowly'))}${shape(p('1'), 'sldNum')}</p:spTree></p:cSld></p:notes>`
  const comments =
    '<p:cmLst><p:cm authorId="0"><p:pos x="1" y="1"/><p:text>Older remark</p:text></p:cm></p:cmLst>'
  const threaded = `<p188:cmLst><p188:cm><p188:replyLst><p188:reply><p188:txBody>${p('An answer')}</p188:txBody></p188:reply></p188:replyLst><p188:txBody>${p('Newer remark')}</p188:txBody></p188:cm></p188:cmLst>`
  const blocks = await read([
    {
      shapes: shape(p('Body')),
      more: [
        ['notesSlide', 'notesSlides/notesSlide1.xml', notes],
        ['comments', 'comments/comment1.xml', comments],
        [
          'http://schemas.microsoft.com/office/2018/10/relationships/comments',
          'comments/modern.xml',
          threaded,
        ],
      ],
    },
  ])
  t.strictSame(
    blocks.map(({ text }) => text),
    ['', 'Body', 'Say it slowly', 'Older remark', 'An answer', 'Newer remark'],
  )
  t.ok(blocks.every(({ place, part }) => place === 'slide 1' && part === 1))
})

t.test('a part that many slides refer to is read once', async (t) => {
  const notes = `<p:notes>${shape(p('Shared'))}</p:notes>`
  const slide = { shapes: '', more: [['notesSlide', 'notes.xml', notes]] } as const
  t.strictSame(await textsOf([slide, slide, slide]), ['', 'Shared', '', ''])
})

t.test('tables, charts, SmartArt and alternative texts are read', async (t) => {
  const row = (...cells: string[]) =>
    `<a:tr>${cells.map((cell) => `<a:tc><a:txBody>${p(cell)}</a:txBody></a:tc>`).join('')}</a:tr>`
  const frame = (inside: string) =>
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="F"/></p:nvGraphicFramePr><a:graphic><a:graphicData>${inside}</a:graphicData></a:graphic></p:graphicFrame>`
  const pt = (n: number, text: string) => `<c:pt idx="${n}"><c:v>${text}</c:v></c:pt>`
  const chart = `<c:chartSpace><c:ser><c:tx>${pt(0, 'Tea')}</c:tx><c:cat>${pt(0, '2025')}</c:cat><c:val>${pt(0, '12')}</c:val></c:ser></c:chartSpace>`
  const shapes = [
    '<p:pic><p:nvPicPr><p:cNvPr id="3" name="P" descr="A blue door"/></p:nvPicPr></p:pic>',
    frame(`<a:tbl>${row('Name', 'Age')}${row('Ann', '30')}</a:tbl>`),
    frame('<c:chart r:id="rId1"/>'),
    frame('<dgm:relIds r:dm="rId2"/>'),
    shape(p('End')),
  ].join('')
  const diagram = `<dgm:dataModel><dgm:pt><dgm:t>${p('Plan')}</dgm:t></dgm:pt></dgm:dataModel>`
  t.strictSame(
    await textsOf([
      {
        shapes,
        more: [
          ['chart', 'charts/chart1.xml', chart],
          ['diagramData', 'diagrams/data1.xml', diagram],
        ],
      },
    ]),
    ['', 'A blue door', 'Name | Age', 'Ann | 30', '| Tea', '2025 | 12', 'Plan', 'End'],
  )
})
