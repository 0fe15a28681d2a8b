import { getDocumentProxy } from 'unpdf'
import { type Block, longestText, Unreadable } from '../block.ts'

const mostPages = 5_000

const opened = async (bytes: Uint8Array) => {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0, stopAtErrors: false })
  } catch (error) {
    const { name } = error as Error
    throw new Unreadable(
      name === 'PasswordException'
        ? 'The PDF is encrypted: upload it without a password'
        : 'The PDF is damaged',
    )
  }
}

/** Paragraphs page by page, one page in memory at a time. @throws Unreadable */
export const parsePdf = async (bytes: Uint8Array): Promise<Block[]> => {
  const document = await opened(bytes)
  if (document.numPages > mostPages)
    throw new Unreadable(`The PDF has more than ${mostPages} pages`)
  const blocks: Block[] = []
  let length = 0
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    for (const part of text.join('').split(/\n\s*\n/))
      if (part.trim() !== '')
        blocks.push({ text: part.trim(), place: `page ${number}`, part: number })
    page.cleanup()
    length += text.join('').length
    if (length > longestText)
      throw new Unreadable(`The PDF has more than ${longestText} characters of text`)
  }
  if (blocks.length === 0 && document.numPages > 0)
    throw new Unreadable('The PDF has no text: it may be a scan')
  return blocks
}
