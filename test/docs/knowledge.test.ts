import { readFileSync } from 'node:fs'
import t from 'tap'
import { fileTypeOf, mimeTypes } from '../../src/domain/file/types.ts'
import { chunksOf } from '../../src/rag/chunk.ts'
import { parse } from '../../src/rag/parse/parse.ts'
import { searchableText } from '../../src/rag/stored-chunks.ts'
import {
  damagedContent,
  encryptedPdf,
  pdfInCodes,
  pdfLines,
  pdfOf,
  pdfOfContents,
  pdfOfOne,
  pdfStream,
  presentationOf,
  wordOf,
} from '../support/documents.ts'

/** A document with the words `zebra` and `okapi` in the part that its line names. */
type Sample = string | Uint8Array

const w = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`
const wp = (...inside: string[]) => `<w:p>${inside.join('')}</w:p>`
const seen = 'Zebra and okapi'
const beside = wp(w('Beside'))
const wordTable = (cell: string) => `<w:tbl><w:tr><w:tc>${cell}</w:tc></w:tr></w:tbl>`
const ap = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
const shape = (text: string, placeholder = 'body') =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody>${ap(text)}</p:txBody></p:sp>`
const alone = shape('Beside')
const chart =
  '<c:chartSpace><c:title><a:p><a:t>Zebra</a:t></a:p></c:title><c:ser><c:cat><c:pt idx="0"><c:v>okapi</c:v></c:pt></c:cat></c:ser></c:chartSpace>'
const diagram = `<dgm:dataModel><dgm:pt><dgm:t>${ap(seen)}</dgm:t></dgm:pt></dgm:dataModel>`
const notes = (kind: string, text: string, more = '') =>
  `<w:${kind}s><w:${kind} w:id="1"${more}>${wp(w(text))}</w:${kind}></w:${kind}s>`
const drawing = (inside: string) => wp(`<w:r><w:drawing>${inside}</w:drawing></w:r>`)
const annotation = (more: string) => `<</Type/Annot/Rect[0 0 9 9]${more}>>`
const field = (more: string) =>
  pdfOfOne('Beside', {
    catalog: '/AcroForm<</Fields[6 0 R]>>',
    page: '/Annots[6 0 R]',
    objects: [annotation(`/Subtype/Widget/FT/Tx${more}`)],
  })

const markdown: Record<string, Sample> = {
  'headings, paragraphs and lists': '# Zebra\n\n- okapi',
  tables: '| a | Zebra |\n|---|---|\n| b | okapi |',
  code: '```\nzebra(okapi)\n```',
  'text of links, and alternative texts of pictures': '[Zebra](x) ![okapi](y)',
  'text within HTML': '<div>Zebra <b>okapi</b></div>',
  'addresses of links': 'Beside [link](http://zebra/okapi)',
  'remarks (`<!-- -->`)': 'Beside\n\n<!-- Zebra okapi -->',
}

const samples: Record<string, Record<string, Sample>> = {
  '.pdf': {
    'text of each page, also beside a damaged page': pdfOfContents([
      pdfStream(pdfLines(seen)),
      damagedContent,
    ]),
    'words divided at the end of a line, as one word and with the hyphen': pdfOf([
      'The ze-\nbra and the ok-\napi',
    ]),
    'text in Chinese, Japanese and Korean, also without embedded fonts': pdfInCodes(
      'GBK-EUC-H',
      'GB1',
      Buffer.from('zebra okapi').toString('hex'),
    ),
    'title and outline': pdfOfOne('Beside', {
      catalog: '/Outlines 7 0 R',
      trailer: '/Info 6 0 R',
      objects: [
        '<</Title(Zebra)>>',
        '<</First 8 0 R/Last 8 0 R/Count 1>>',
        '<</Title(Okapi)/Parent 7 0 R/Dest[4 0 R/Fit]>>',
      ],
    }),
    'values of form fields, with their names': field('/T(zebra)/V(okapi)'),
    'passwords in form fields': field('/Ff 8192/T(zebra)/V(okapi)'),
    'comments, notes and boxes of text': pdfOfOne('Beside', {
      page: '/Annots[6 0 R 7 0 R]',
      objects: [
        annotation('/Subtype/Text/Contents(Zebra)'),
        annotation('/Subtype/FreeText/DA(/F1 9 Tf)/Contents(Okapi)'),
      ],
    }),
    'text outside the visible part of a page': pdfOfContents([
      pdfStream(`${pdfLines('Beside')} BT /F1 12 Tf 900 900 Td (Zebra okapi) Tj ET`),
    ]),
    'pictures and scans': pdfOfContents([
      pdfStream(`${pdfLines('Beside')} BI /W 11 /H 1 /BPC 8 /CS /G ID zebra okapi EI`),
    ]),
    'attached files': pdfOfOne('Beside', {
      catalog: '/Names<</EmbeddedFiles<</Names[(a) 6 0 R]>>>>',
      objects: [
        '<</Type/Filespec/F(a.txt)/EF<</F 7 0 R>>>>',
        pdfStream('zebra okapi', '/Type/EmbeddedFile'),
      ],
    }),
    "documents with only an owner's password": encryptedPdf(seen, ''),
    'documents that need a password to be opened': encryptedPdf(seen, 'secret'),
  },
  '.docx': {
    'paragraphs, headings and lists': wordOf(
      `${wp('<w:pPr><w:outlineLvl w:val="0"/></w:pPr>', w('Zebra'))}${wp('<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>', w('okapi'))}`,
    ),
    'tables, also within tables': wordOf(
      wordTable(`${wp(w('Zebra'))}${wordTable(wp(w('okapi')))}`),
    ),
    'headers and footers': wordOf(beside, [
      ['header', 'word/header1.xml', `<w:hdr>${wp(w('Zebra'))}</w:hdr>`],
      ['footer', 'word/footer1.xml', `<w:ftr>${wp(w('okapi'))}</w:ftr>`],
    ]),
    'footnotes and endnotes, behind their paragraph': wordOf(
      wp(w('Beside'), '<w:r><w:footnoteReference w:id="1"/><w:endnoteReference w:id="1"/></w:r>'),
      [
        ['footnotes', 'word/footnotes.xml', notes('footnote', 'Zebra')],
        ['endnotes', 'word/endnotes.xml', notes('endnote', 'okapi')],
      ],
    ),
    'comments, with their author': wordOf(beside, [
      ['comments', 'word/comments.xml', notes('comment', 'okapi', ' w:author="Zebra"')],
    ]),
    'results of fields': wordOf(
      wp(
        `<w:fldSimple w:instr="AUTHOR">${w('Zebra ')}</w:fldSimple>`,
        `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${w('okapi')}`,
      ),
    ),
    'text of links': wordOf(
      wp(`<w:hyperlink>${w('Zebra ')}<w:ins>${w('okapi')}</w:ins></w:hyperlink>`),
    ),
    'addresses of links': wordOf(
      wp(w('Beside'), '<w:r><w:instrText>HYPERLINK "http://zebra/okapi"</w:instrText></w:r>'),
    ),
    'text boxes': wordOf(
      wp(w('Beside'), `<w:r><w:txbxContent>${wp(w(seen))}</w:txbxContent></w:r>`),
    ),
    'equations, in one line': wordOf(
      wp(
        '<m:oMath><m:f><m:num><m:t>zebra</m:t></m:num><m:den><m:t>okapi</m:t></m:den></m:f></m:oMath>',
      ),
    ),
    'titles, categories and values of charts': wordOf(drawing('<c:chart r:id="rId1"/>'), [
      ['chart', 'word/charts/chart1.xml', chart],
    ]),
    SmartArt: wordOf(drawing('<dgm:relIds r:dm="rId1"/>'), [
      ['diagramData', 'word/diagrams/data1.xml', diagram],
    ]),
    'alternative texts of pictures': wordOf(drawing(`<wp:docPr id="1" descr="${seen}"/>`)),
    'text inserted in a tracked change': wordOf(wp(`<w:ins>${w(seen)}</w:ins>`)),
    'text deleted or moved away in a tracked change': wordOf(
      `${beside}${wp('<w:del><w:r><w:delText>zebra</w:delText></w:r></w:del>', `<w:moveFrom>${w('okapi')}</w:moveFrom>`)}`,
    ),
    'properties such as title and author': wordOf(beside, [
      [
        'metadata/core-properties',
        'docProps/core.xml',
        `<cp:p><dc:title>${seen}</dc:title></cp:p>`,
      ],
    ]),
    'pictures and embedded files': wordOf(beside, [
      ['image', 'word/media/a.svg', `<svg><text>${seen}</text></svg>`],
      ['package', 'word/embeddings/b.xml', `<w:document>${wp(w(seen))}</w:document>`],
    ]),
  },
  '.pptx': {
    'titles and text of slides, also of hidden ones': presentationOf([
      { shapes: shape('Zebra', 'title') + shape('okapi') },
    ]),
    tables: presentationOf([
      {
        shapes: `<a:tbl><a:tr><a:tc><a:txBody>${ap('Zebra')}</a:txBody></a:tc><a:tc><a:txBody>${ap('okapi')}</a:txBody></a:tc></a:tr></a:tbl>`,
      },
    ]),
    'speaker notes': presentationOf([
      { shapes: alone, more: [['notesSlide', 'notes1.xml', `<p:notes>${shape(seen)}</p:notes>`]] },
    ]),
    'comments and their answers': presentationOf([
      {
        shapes: alone,
        more: [
          ['comments', 'comments/a.xml', '<p:cmLst><p:cm><p:text>Zebra</p:text></p:cm></p:cmLst>'],
          [
            'comments',
            'comments/b.xml',
            `<x:cmLst><x:cm><x:reply>${ap('okapi')}</x:reply></x:cm></x:cmLst>`,
          ],
        ],
      },
    ]),
    'titles, categories and values of charts': presentationOf([
      { shapes: '<c:chart r:id="rId1"/>', more: [['chart', 'charts/chart1.xml', chart]] },
    ]),
    SmartArt: presentationOf([
      { shapes: '<dgm:relIds r:dm="rId1"/>', more: [['diagramData', 'diagrams/d.xml', diagram]] },
    ]),
    'alternative texts of pictures': presentationOf([
      { shapes: `<p:pic><p:cNvPr descr="${seen}"/></p:pic>` },
    ]),
    'numbers of slides': presentationOf([{ shapes: alone + shape(seen, 'sldNum') }]),
    'masters and layouts': presentationOf([
      {
        shapes: alone,
        more: [['slideLayout', 'l.xml', `<p:sldLayout>${shape(seen)}</p:sldLayout>`]],
      },
    ]),
    'pictures and embedded files': presentationOf([
      { shapes: alone, more: [['image', 'media/a.svg', `<svg><text>${seen}</text></svg>`]] },
    ]),
  },
  '.html': {
    'title, headings and paragraphs': '<title>Zebra</title><h1>On</h1><p>okapi',
    'text outside of the body': 'Zebra<html><body>x</body></html>okapi',
    'lists and tables': '<ul><li>Zebra</ul><table><tr><td>okapi</table>',
    'alternative texts of pictures': `<img alt="${seen}">`,
    'buttons and options of forms': '<button>Zebra</button><select><option>okapi</select>',
    'hidden elements': `<p hidden style="display:none">${seen}`,
    'navigation (`nav`)': `Beside<nav>${seen}</nav>`,
    'scripts, styles and templates': `Beside<script>${seen}</script><style>${seen}</style><template>${seen}</template>`,
    'remarks (`<!-- -->`)': `Beside<!-- ${seen} -->`,
    'addresses of links, and other attributes': `<a href="zebra" title="okapi">Beside</a>`,
  },
  '.md': markdown,
  '.txt': { 'paragraphs, separated by blank lines': 'Zebra\n\nokapi' },
  '.json': {
    'names and values, by member of the outermost object': '{"zebra":{"kin":"okapi"}}',
    'records of an outermost array, each by itself': '[{"zebra":"okapi"}]',
    'documents above 8 MB': `["zebra okapi"${' '.repeat(8 * 1024 * 1024)}]`,
  },
  '.jsonl': { 'names and values, a record for each line': '{"zebra":1}\n{"kin":"okapi"}' },
}

const page = readFileSync('docs/contract/document-formats.md', 'utf8')
const sections = page.slice(page.indexOf('## Supported parts')).split('\n### ').slice(1)
const lines = sections.flatMap((section) => {
  const [extension = ''] = section.split('\n', 1)[0]?.match(/\.\w+/) ?? []
  const rows = [...section.matchAll(/^\| (.+?) \| (yes|no) \|$/gm)]
  return rows.map(([, part = '', read]) => ({ extension, part, read: read === 'yes' }))
})

/** The words of all passages; none of a document that is refused. */
const wordsOf = async (sample: Sample, extension: string): Promise<string> => {
  const bytes = typeof sample === 'string' ? new TextEncoder().encode(sample) : sample
  const type = fileTypeOf(`a${extension}`)
  const blocks = type ? await parse(bytes, type).catch(() => []) : []
  return [...chunksOf(blocks)].map(searchableText).join('\n').toLowerCase()
}

t.test('the documentation lists the parts of every type, each with a sample', async (t) => {
  const listed = lines.map(({ extension, part }) => `${extension}: ${part}`)
  const sampled = Object.entries(samples).flatMap(([extension, parts]) =>
    Object.keys(parts).map((part) => `${extension}: ${part}`),
  )
  t.strictSame(listed.toSorted(), sampled.toSorted())
  const types = Object.keys(samples).map((extension) => fileTypeOf(`a${extension}`))
  t.strictSame(types.toSorted(), mimeTypes.toSorted())
})

for (const { extension, part, read } of lines)
  t.test(`${extension}: ${part}: ${read ? 'read' : 'not read'}`, async (t) => {
    const words = await wordsOf(samples[extension]?.[part] ?? '', extension)
    for (const word of ['zebra', 'okapi']) t.equal(words.includes(word), read, word)
  })
