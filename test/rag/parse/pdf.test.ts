import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import t from 'tap'
import { version } from 'unpdf/pdfjs'
import { chunksOf } from '../../../src/rag/chunk.ts'
import { parse } from '../../../src/rag/parse/parse.ts'
import { searchableText } from '../../../src/rag/stored-chunks.ts'
import {
  damagedContent,
  encryptedPdf,
  pdfInCodes,
  pdfLines,
  pdfOf,
  pdfOfContents,
  pdfOfOne,
  pdfStream,
} from '../../support/documents.ts'

const read = async (bytes: Uint8Array) => {
  const warnings: string[] = []
  const blocks = await parse(bytes, 'application/pdf', (warning) => warnings.push(warning))
  return { blocks, warnings, text: blocks.map(({ text }) => text).join('\n') }
}

t.test('values of form fields are read with their names', async (t) => {
  const widget = (rest: string) => `<</Type/Annot/Subtype/Widget/Rect[0 0 9 9]/P 4 0 R${rest}>>`
  const states = '/AP<</N<</Yes 6 0 R/Off 6 0 R>>>>'
  const bytes = pdfOfOne('The page itself', {
    catalog: '/AcroForm<</Fields[7 0 R 8 0 R 9 0 R 10 0 R 11 0 R]>>',
    page: '/Annots[7 0 R 8 0 R 9 0 R 10 0 R 11 0 R]',
    objects: [
      pdfStream('', '/Type/XObject/Subtype/Form/BBox[0 0 9 9]'),
      widget('/FT/Tx/T(surname)/TU(Family name)/V(Lovelace)'),
      widget(`/FT/Btn/T(member)/V/Yes/AS/Yes${states}`),
      widget(`/FT/Btn/T(retired)/V/Off/AS/Off${states}`),
      widget('/FT/Ch/T(country)/Opt[[(gb)(Great Britain)][(fr)(France)]]/V(gb)'),
      widget('/FT/Tx/Ff 8192/T(pin)/V(4711)'),
    ],
  })
  const { blocks, text } = await read(bytes)
  t.match(blocks, [
    { text: 'The page itself' },
    { text: 'Family name: Lovelace', place: 'page 1', part: 1 },
    { text: 'member: Yes' },
    { text: 'country: Great Britain' },
  ])
  t.notMatch(text, /retired|4711/, 'neither a box without a mark nor a password')
})

t.test('annotations are read, without the windows that repeat them', async (t) => {
  const objects = [
    '<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(Check this figure)/Popup 7 0 R>>',
    '<</Type/Annot/Subtype/Popup/Rect[0 0 9 9]/Parent 6 0 R>>',
    '<</Type/Annot/Subtype/FreeText/Rect[0 0 9 9]/DA(/F1 9 Tf)/Contents(Approved in May)>>',
  ]
  const bytes = pdfOfOne('The page itself', { page: '/Annots[6 0 R 7 0 R 8 0 R]', objects })
  const { blocks } = await read(bytes)
  t.strictSame(
    blocks.map(({ text }) => text),
    ['The page itself', 'Check this figure', 'Approved in May'],
  )
})

t.test('title and outline are read', async (t) => {
  const bytes = pdfOfOne('The page itself', {
    catalog: '/Outlines 7 0 R',
    objects: [
      '<</Title(Annual report)>>',
      '<</First 8 0 R/Last 9 0 R/Count 2>>',
      '<</Title(Revenue)/Parent 7 0 R/Next 9 0 R/First 10 0 R/Last 10 0 R/Count 1/Dest[4 0 R/Fit]>>',
      '<</Title(Outlook)/Parent 7 0 R/Prev 8 0 R/Dest[4 0 R/Fit]>>',
      '<</Title(By region)/Parent 8 0 R/Dest[4 0 R/Fit]>>',
    ],
    trailer: '/Info 6 0 R',
  })
  t.match((await read(bytes)).blocks, [
    { text: 'Annual report', place: 'title', level: 0 },
    { text: 'Revenue\nBy region\nOutlook', place: 'outline' },
    { text: 'The page itself', place: 'page 1' },
  ])
})

t.test('a word divided at the end of a line is joined, and found in both forms', async (t) => {
  const lines = [
    'The infor-',
    'mation on state-',
    'of-the-art e-',
    'mail, a well-known',
    'well-',
    'known UTF-',
    '8 case.',
  ]
  const { blocks } = await read(pdfOf([lines.join('\n')]))
  t.match(blocks, [
    { text: 'The information on state-of-the-art e-mail, a well-known\nwell-known UTF-\n8 case.' },
  ])
  const [chunk] = chunksOf(blocks)
  if (!chunk) return t.fail('no chunk')
  t.strictSame(chunk.variants, ['infor-mation', 'stateof-the-art', 'email', 'wellknown'])
  t.match(searchableText(chunk), /\binformation\b[\s\S]*\binfor-mation\b/)
})

t.test('a page that cannot be read costs that page, and is named', async (t) => {
  const packed = deflateSync(pdfLines('A page that is damaged in the middle. '.repeat(50)))
  const damaged = pdfStream(
    `${packed.toString('latin1', 0, 40)}${'\xff'.repeat(40)}`,
    '/Filter/FlateDecode',
  )
  const good = pdfStream(pdfLines('A page that can be read'))
  const { blocks, warnings } = await read(
    pdfOfContents([good, damaged, damagedContent, good, damaged]),
  )
  t.match(blocks, [{ place: 'page 1' }, { place: 'page 4' }])
  t.strictSame(warnings, ['Cannot be read in full: pages 2–3, 5'])
  await t.rejects(read(pdfOfContents([damaged, damaged])), { message: 'The PDF is damaged' })
})

t.test('only a page that consists of images may be a scan', async (t) => {
  const image = pdfStream('q 9 0 0 9 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID 0 EI Q')
  const lines = pdfStream('0 0 m 9 9 l S')
  const words = pdfStream(pdfLines('Words'))
  const of = (...contents: string[]) => read(pdfOfContents(contents))
  await t.rejects(of(image, image), { message: 'The PDF has no text: it may be a scan' })
  await t.rejects(of(image, lines), { message: 'The PDF has no text' })
  await t.rejects(of(pdfStream('')), { message: 'The PDF has no text' })
  t.strictSame((await of(words, image, lines)).warnings, ['Without text, may be a scan: page 2'])
})

t.test('a document with only an owner’s password is read, one with a user’s is not', async (t) => {
  t.match((await read(encryptedPdf('Read me', ''))).blocks, [{ text: 'Read me' }])
  await t.rejects(read(encryptedPdf('Read me', 'secret')), { message: /encrypted/ })
})

t.test('fonts in Chinese, Japanese and Korean that are not embedded are read', async (t) => {
  for (const [map, ordering, codes, text] of [
    ['90ms-RKSJ-H', 'Japan1', '93fa967b', '日本'],
    ['EUC-H', 'Japan1', 'c6fccbdc', '日本'],
    ['GBK-EUC-H', 'GB1', 'd6d0cec4', '中文'],
    ['ETen-B5-H', 'CNS1', 'a4a4a4e5', '中文'],
    ['KSCms-UHC-H', 'Korea1', 'c7d1b1db', '한글'],
    ['UniJIS-UTF16-H', 'Japan1', '65e5672c', '日本'],
  ] as const)
    t.match((await read(pdfInCodes(map, ordering, codes))).blocks, [{ text }], map)
})

t.test('character maps come with the package, of the version that reads them', async (t) => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.equal(dependencies['pdfjs-dist'], version)
})
