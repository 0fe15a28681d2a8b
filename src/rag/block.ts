/** A piece of a document as it was written: a heading, a paragraph, a page, a slide, a record. */
export type Block = {
  text: string
  /** Where it is in the file, such as `page 3` or `line 12`. */
  place: string
  /** Only headings have one; 1 is the highest. */
  level?: number
  /** The number of its page, slide or record; blocks of different parts are never joined. */
  part?: number
  /** Only rows of tables have one, which may be empty: the rows that name the columns. */
  header?: string
  /** Other forms of words in the text, by which it is found too. */
  variants?: ReadonlyMap<string, string>
}

/** A file that cannot be read; the message is for the user who uploaded it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

/** The deepest nesting of headings, elements and values. */
export const deepest = 500

/**
 * The most characters that are read of one document; a longer one is refused for its text.
 */
export const longestText = 16 * 1_048_576
