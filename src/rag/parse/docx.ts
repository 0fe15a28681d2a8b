import { zipSync } from 'fflate'
import mammoth from 'mammoth'
import { type Block, Unreadable } from '../block.ts'
import { unzipped } from '../unzip.ts'
import { blocksOfHtml } from './html.ts'

/** All but pictures, sounds and fonts. */
const wanted = /\.(?:xml|rels)$/

/**
 * Headings and paragraphs of a Word document. It is unpacked here, within limits, and packed again
 * without compression for the parser, which has no limits.
 * @throws Unreadable
 */
export const parseDocx = async (bytes: Uint8Array): Promise<Block[]> => {
  const parts = unzipped(bytes, wanted)
  if (!parts['word/document.xml']) throw new Unreadable('The file is not a Word document')
  const buffer = Buffer.from(zipSync(parts, { level: 0 }))
  try {
    const { value } = await mammoth.convertToHtml({ buffer })
    return blocksOfHtml(value)
  } catch (error) {
    if (error instanceof Unreadable) throw error
    throw new Unreadable('The Word document is damaged')
  }
}
