import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getDocumentProxy } from 'unpdf'
import { OPS } from 'unpdf/pdfjs'
import { type Block, longestText, Unreadable } from '../block.ts'
import { hyphenJoiner } from './hyphens.ts'
import { type Annotation, annotationText, stringsIn } from './pdf-annotations.ts'
import { ranges } from './ranges.ts'

const mostPages = 5_000
/** How many pages without text are searched for images, and for how long in milliseconds. */
const mostSearched = 20
const longestSearch = 5_000

/** Where pdf.js keeps what fonts refer to but do not contain. */
const resources = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')))

const options = {
  verbosity: 1,
  stopAtErrors: false,
  maxImageSize: 0,
  disableFontFace: true,
  cMapUrl: `${resources}/cmaps/`,
  cMapPacked: true,
  standardFontDataUrl: `${resources}/standard_fonts/`,
}

/** Warnings of pdf.js that say what its API does not. With `maxImageSize` 0 it decodes no image. */
const noticeKinds = {
  image: /Image exceeded maximum allowed size/,
  damage: /Invalid stream|ignoring errors/,
} as const
const drawings = new Set([OPS.constructPath, OPS.shadingFill])

type Notices = Set<keyof typeof noticeKinds>

/** Takes the warnings of pdf.js, which go to the console, while one document is read. */
const withNotices = async <Result>(run: (notices: Notices) => Promise<Result>): Promise<Result> => {
  const notices: Notices = new Set()
  const { warn } = console
  console.warn = (text) => {
    if (noticeKinds.image.test(text)) notices.add('image')
    if (noticeKinds.damage.test(text)) notices.add('damage')
  }
  try {
    return await run(notices)
  } finally {
    console.warn = warn
  }
}

type Document = Awaited<ReturnType<typeof getDocumentProxy>>
type Page = Awaited<ReturnType<Document['getPage']>>

const opened = async (bytes: Uint8Array): Promise<Document> => {
  try {
    return await getDocumentProxy(bytes, options)
  } catch (error) {
    const { name } = error as Error
    throw new Unreadable(
      name === 'PasswordException'
        ? 'The PDF is encrypted: upload it without a password'
        : 'The PDF is damaged',
    )
  }
}

const textOf = async (page: Page): Promise<string> => {
  const { items } = await page.getTextContent()
  return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
}

const titleOf = async (document: Document): Promise<Block[]> => {
  const { info, metadata } = await document.getMetadata()
  const [title] = [
    ...stringsIn((info as Annotation).Title),
    ...stringsIn(metadata?.get('dc:title')),
  ]
  return title ? [{ text: title, place: 'title', level: 0 }] : []
}

const outlineOf = async (document: Document): Promise<Block[]> => {
  const titles: string[] = []
  const rest = [...((await document.getOutline()) ?? [])].toReversed()
  for (let item = rest.pop(); item; item = rest.pop()) {
    titles.push(item.title)
    rest.push(...item.items.toReversed())
  }
  return titles.length === 0 ? [] : [{ text: titles.join('\n'), place: 'outline', part: 0 }]
}

/** Whether a page without text consists of images: it has some, and no lines or shades. */
const isImage = async (page: Page, notices: Notices): Promise<boolean> => {
  notices.delete('image')
  const { fnArray } = await page.getOperatorList()
  return notices.has('image') && !fnArray.some((fn) => drawings.has(fn))
}

/** Which of the pages, none of which has text, consist of images. Looks at the first only. */
const imagesAmong = async (
  document: Document,
  numbers: readonly number[],
  notices: Notices,
): Promise<number[]> => {
  const end = performance.now() + longestSearch
  const images: number[] = []
  for (const number of numbers.slice(0, mostSearched)) {
    if (performance.now() > end) break
    const page = await document.getPage(number)
    if (await isImage(page, notices).catch(() => false)) images.push(number)
    page.cleanup()
  }
  return images
}

const read = async (
  bytes: Uint8Array,
  warn: (warning: string) => void,
  notices: Notices,
): Promise<Block[]> => {
  const document = await opened(bytes)
  if (document.numPages > mostPages)
    throw new Unreadable(`The PDF has more than ${mostPages} pages`)
  const blocks: Block[] = []
  const unreadable: number[] = []
  const textless: number[] = []
  const joinHyphens = hyphenJoiner()
  let length = 0

  const add = (...added: readonly Block[]): void => {
    for (const block of added) {
      length += block.text.length
      if (length > longestText)
        throw new Unreadable(`The PDF has more than ${longestText} characters of text`)
      if (block.text.trim() !== '') blocks.push({ ...block, text: block.text.trim() })
    }
  }

  const addPage = async (number: number): Promise<void> => {
    notices.delete('damage')
    const page = await document.getPage(number)
    const at = { place: `page ${number}`, part: number }
    const { text, variants } = joinHyphens(await textOf(page))
    if (text.trim() === '') textless.push(number)
    add(...text.split(/\n\s*\n/).map((text) => ({ text, ...at, variants })))
    const annotations: Annotation[] = await page.getAnnotations()
    add(...[...new Set(annotations.map(annotationText))].map((text) => ({ text, ...at })))
    page.cleanup()
    if (notices.has('damage')) unreadable.push(number)
  }

  add(...(await titleOf(document).catch(() => [])))
  add(...(await outlineOf(document).catch(() => [])))
  const before = blocks.length
  for (let number = 1; number <= document.numPages; number++)
    try {
      await addPage(number)
    } catch (error) {
      if (error instanceof Unreadable) throw error
      unreadable.push(number)
    }
  if (blocks.length === before && unreadable.length > 0) throw new Unreadable('The PDF is damaged')
  const scans = textless.length > 0 ? await imagesAmong(document, textless, notices) : []
  if (blocks.length === before)
    throw new Unreadable(
      scans.length > 0 && scans.length === Math.min(textless.length, mostSearched)
        ? 'The PDF has no text: it may be a scan'
        : 'The PDF has no text',
    )
  if (unreadable.length > 0) warn(`Cannot be read in full: ${ranges('page', unreadable)}`)
  if (scans.length > 0) warn(`Without text, may be a scan: ${ranges('page', scans)}`)
  return blocks
}

/**
 * Title, outline, then paragraphs, form fields and annotations page by page, one page in memory at
 * a time. A page that cannot be read is named in a warning. @throws Unreadable
 */
export const parsePdf = (bytes: Uint8Array, warn: (warning: string) => void): Promise<Block[]> =>
  withNotices((notices) => read(bytes, warn, notices))
