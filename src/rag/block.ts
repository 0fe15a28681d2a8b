/** A piece of a document as it was written: a heading, a paragraph, a page, a slide, a record. */
export type Block = {
  text: string
  /** Where it is in the file, such as `page 3` or `line 12`. */
  place: string
  /** Set for headings: the lower, the higher it stands. */
  level?: number
  /** The page, slide or record that it is on: blocks of different parts are never joined. */
  part?: number
}

/** A file that nothing can be read from; the message is for whoever uploaded it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

/** How deep headings, elements and values may be nested in one another. */
export const deepest = 500

/** Characters of text in one document; beyond it there is no answering from it in reasonable time. */
export const longestText = 8_000_000
