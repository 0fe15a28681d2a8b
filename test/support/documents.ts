import { createCipheriv, createHash } from 'node:crypto'
import { strToU8, zipSync } from 'fflate'

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
const rels = (kind: string, targets: readonly string[]) =>
  `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
    .map(
      (target, n) =>
        `<Relationship Id="rId${n + 1}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${kind}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`

const relationType = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Relationships of a part, under ids of their own. */
export const relationsOf = (relations: readonly (readonly [kind: string, target: string])[]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations
    .map(([kind, target], n) => {
      const type = kind.includes('/') ? kind : `${relationType}/${kind}`
      return `<Relationship Id="rId${n + 1}" Type="${type}" Target="${target}"/>`
    })
    .join('')}</Relationships>`

/** An Office file of these parts. */
export const officeOf = (parts: Readonly<Record<string, string>>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(parts).map(([name, xml]) => [
        name,
        strToU8(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${xml}`),
      ]),
    ),
  )

/** A Word document with this body, and what else belongs to it: a part's kind, name and XML. */
export const wordOf = (
  body: string,
  more: readonly (readonly [kind: string, name: string, xml: string])[] = [],
  main = 'word/document.xml',
): Uint8Array =>
  officeOf({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationsOf([['officeDocument', main]]),
    [main]: `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
    [main.replace(/[^/]*$/, '_rels/$&.rels')]: relationsOf(
      more.map(([kind, name]) => [kind, `/${name}`]),
    ),
    ...Object.fromEntries(more.map(([, name, xml]) => [name, xml])),
  })

/** A Word document; a paragraph that begins with `# ` is a heading. */
export const docxOf = (paragraphs: readonly string[]): Uint8Array => {
  const body = paragraphs.map((text) => {
    const style = text.startsWith('# ') ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : ''
    return `<w:p>${style}<w:r><w:t xml:space="preserve">${escaped(text.replace(/^# /, ''))}</w:t></w:r></w:p>`
  })
  const styles = `<?xml version="1.0"?><w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`
  return zipSync({
    '[Content_Types].xml': strToU8(types),
    '_rels/.rels': strToU8(rels('officeDocument', ['word/document.xml'])),
    'word/_rels/document.xml.rels': strToU8(rels('styles', ['styles.xml'])),
    'word/styles.xml': strToU8(styles),
    'word/document.xml': strToU8(
      `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body.join('')}</w:body></w:document>`,
    ),
  })
}

/** A presentation of these slides' shapes, and what else a slide has: a part's kind and XML. */
export const presentationOf = (
  slides: readonly {
    shapes: string
    more?: readonly (readonly [kind: string, name: string, xml: string])[]
  }[],
): Uint8Array =>
  officeOf({
    '_rels/.rels': relationsOf([['officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${slides
      .map((_, n) => `<p:sldId id="${256 + n}" r:id="rId${n + 1}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationsOf(
      slides.map((_, n) => ['slide', `slides/slide${n + 1}.xml`]),
    ),
    ...Object.fromEntries(
      slides.flatMap(({ shapes, more = [] }, n) => [
        [
          `ppt/slides/slide${n + 1}.xml`,
          `<p:sld><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
        ],
        [
          `ppt/slides/_rels/slide${n + 1}.xml.rels`,
          relationsOf(more.map(([kind, name]) => [kind, `../${name}`])),
        ],
        ...more.map(([, name, xml]) => [`ppt/${name}`, xml]),
      ]),
    ),
  })

/** A presentation whose slides are shown in the order given, and stored in the opposite one. */
export const pptxOf = (slides: readonly { title: string; text: string }[]): Uint8Array => {
  const name = (n: number) => `slides/slide${slides.length - n}.xml`
  const shape = (text: string, kind: string) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${escaped(text)}</a:t></a:r></a:p></p:txBody></p:sp>`
  const ids = slides.map((_, n) => `<p:sldId id="${256 + n}" r:id="rId${n + 1}"/>`).join('')
  return zipSync({
    'ppt/presentation.xml': strToU8(
      `<p:presentation><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    ),
    'ppt/_rels/presentation.xml.rels': strToU8(
      rels(
        'slide',
        slides.map((_, n) => name(n)),
      ),
    ),
    ...Object.fromEntries(
      slides.map(({ title, text }, n) => [
        `ppt/${name(n)}`,
        strToU8(
          `<p:sld><p:cSld><p:spTree>${shape(title, 'title')}${shape(text, 'body')}</p:spTree></p:cSld></p:sld>`,
        ),
      ]),
    ),
  })
}

/** A PDF of objects, numbered from 1; the first is its catalog. `more` goes into its trailer. */
export const pdfOfObjects = (objects: readonly (string | Uint8Array)[], more = ''): Uint8Array => {
  const parts: Buffer[] = []
  let length = 0
  const write = (part: string | Uint8Array): void => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part)
    parts.push(bytes)
    length += bytes.length
  }
  write('%PDF-1.7\n')
  const offsets = objects.map((object, n) => {
    const at = length
    for (const part of [`${n + 1} 0 obj`, object, 'endobj\n']) write(part)
    return at
  })
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const start = length
  write(
    `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer<</Size ${size}/Root 1 0 R${more}>>\nstartxref\n${start}\n%%EOF`,
  )
  return new Uint8Array(Buffer.concat(parts))
}

/** A stream object of a PDF; `more` goes into its dictionary. */
export const pdfStream = (content: string, more = ''): string =>
  `<<${more}/Length ${content.length}>>stream\n${content}\nendstream`

/** What draws text in a PDF, one line under the other. */
export const pdfLines = (text: string): string => {
  const lines = text.split('\n').map((line) => `(${line.replace(/[()\\]/g, '\\$&')}) Tj 0 -14 Td`)
  return `BT /F1 12 Tf 72 720 Td ${lines.join(' ')} ET`
}

/** A PDF whose pages have these contents, each a stream object. */
export const pdfOfContents = (contents: readonly string[], more = ''): Uint8Array =>
  pdfOfObjects(
    [
      '<</Type/Catalog/Pages 2 0 R>>',
      `<</Type/Pages/Count ${contents.length}/Kids[${contents.map((_, n) => `${4 + 2 * n} 0 R`).join(' ')}]>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
      ...contents.flatMap((content, n) => [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * n} 0 R>>`,
        content,
      ]),
    ],
    more,
  )

/** A PDF with text on each page; `more` goes into its trailer. */
export const pdfOf = (pages: readonly string[], more = ''): Uint8Array =>
  pdfOfContents(
    pages.map((text) => pdfStream(pdfLines(text))),
    more,
  )

/** Parts of a PDF of one page besides its text; `objects` are numbered from 6. */
type PdfParts = { catalog?: string; page?: string; trailer?: string; objects?: readonly string[] }

/** A PDF of one page. Its font is object 3, its page object 4. */
export const pdfOfOne = (
  text: string,
  { catalog = '', page = '', trailer = '', objects = [] }: PdfParts = {},
): Uint8Array =>
  pdfOfObjects(
    [
      `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
      '<</Type/Pages/Count 1/Kids[4 0 R]>>',
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R${page}>>`,
      pdfStream(pdfLines(text)),
      ...objects,
    ],
    trailer,
  )

/** A PDF with a line in a font that is not embedded, written in the codes of a character map. */
export const pdfInCodes = (map: string, ordering: string, codes: string): Uint8Array =>
  pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[4 0 R]>>',
    `<</Type/Font/Subtype/Type0/BaseFont/F/Encoding/${map}/DescendantFonts[6 0 R]>>`,
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>',
    pdfStream(`BT /F1 12 Tf 72 720 Td <${codes}> Tj ET`),
    `<</Type/Font/Subtype/CIDFontType0/BaseFont/F/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/FontDescriptor 7 0 R>>`,
    '<</Type/FontDescriptor/FontName/F/Flags 4/FontBBox[0 0 9 9]/ItalicAngle 0/Ascent 9/Descent 0/CapHeight 9/StemV 1>>',
  ])

/** A PDF that is encrypted with AES-256, and opened by a user's password. */
export const encryptedPdf = (text: string, userPassword: string): Uint8Array => {
  const key = Buffer.alloc(32, 7)
  const sha = (...parts: readonly (string | Buffer)[]) =>
    createHash('sha256')
      .update(Buffer.concat(parts.map((part) => Buffer.from(part as Buffer))))
      .digest()
  const sealed = (by: Buffer, bytes: Buffer, iv = Buffer.alloc(16), padded = false) => {
    const cipher = createCipheriv('aes-256-cbc', by, iv).setAutoPadding(padded)
    return Buffer.concat([cipher.update(bytes), cipher.final()])
  }
  const checks = (password: string, more = Buffer.alloc(0)) => ({
    hash: Buffer.concat([sha(password, 'validate', more), Buffer.from('validatekey salt')]),
    key: sealed(sha(password, 'key salt', more), key),
  })
  const user = checks(userPassword)
  const owner = checks('owner', user.hash)
  const hex = (bytes: Buffer) => `<${bytes.toString('hex')}>`
  const iv = Buffer.alloc(16, 3)
  const content = Buffer.concat([iv, sealed(key, Buffer.from(pdfLines(text)), iv, true)])
  return pdfOfObjects(
    [
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[4 0 R]>>',
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>',
      pdfStream(content.toString('latin1')),
      `<</Filter/Standard/V 5/R 5/Length 256/P -4/U${hex(user.hash)}/UE${hex(user.key)}/O${hex(owner.hash)}/OE${hex(owner.key)}/Perms<${'00'.repeat(16)}>/StmF/StdCF/StrF/StdCF/CF<</StdCF<</CFM/AESV3/AuthEvent/DocOpen/Length 32>>>>>>`,
    ],
    '/Encrypt 6 0 R/ID[<00><00>]',
  )
}

/** The content of a page of a PDF that cannot be unpacked. */
export const damagedContent = pdfStream('no flate stream', '/Filter/FlateDecode')

let bomb: Uint8Array | undefined

/** A Word document that unpacks to more than a server should hold; made once, for it takes long. */
export const zipBomb = (): Uint8Array => {
  bomb ??= zipSync({ 'word/document.xml': new Uint8Array(80 * 1024 * 1024) }, { level: 9 })
  return bomb
}

/** JSON as large as an upload may be. */
export const hugeJson = (bytes = 10 * 1024 * 1024): Uint8Array => {
  const record = '{"name":"widget","price":12},'
  const records = record.repeat(Math.floor((bytes - 4) / record.length)).slice(0, -1)
  return strToU8(`[${records}]`)
}

export const deepHtml = (depth = 100_000): Uint8Array =>
  strToU8(`${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}`)
