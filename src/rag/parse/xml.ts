import { Parser } from 'htmlparser2'
import { deepest, Unreadable } from '../block.ts'

/** The attributes of an element, under their names with prefixes. */
export type Attributes = Readonly<Record<string, string>>

/** What a reader of XML is given, in order. Names have no prefixes. */
export type XmlHandlers = {
  open(name: string, attributes: Attributes): void
  text?(text: string): void
  close?(name: string): void
}

/** How many bytes are decoded at once. */
const sliceSize = 65_536

/** The name without its prefix, which a file may choose. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** The value of an attribute, whatever its prefix. */
export const attributeOf = (attributes: Attributes, name: string): string | undefined => {
  const own = attributes[name]
  if (own !== undefined) return own
  const key = Object.keys(attributes).find((key) => key.endsWith(`:${name}`))
  return key === undefined ? undefined : attributes[key]
}

/** The id of a relationship. It has a prefix, unlike an `id` of the element itself. */
export const relationIn = (attributes: Attributes, name = 'id'): string | undefined => {
  const key = Object.keys(attributes).find((key) => key.endsWith(`:${name}`))
  return key === undefined ? undefined : attributes[key]
}

const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0x3c && second === 0) return 'utf-16le'
  return first === 0 && second === 0x3c ? 'utf-16be' : 'utf-8'
}

/**
 * Reads XML as a stream: no tree is built, and no entity of a document's own is expanded. What is
 * not well-formed is read as far as it goes. @throws Unreadable
 */
export const readXml = (bytes: Uint8Array, handlers: XmlHandlers): void => {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth++
        if (depth > deepest)
          throw new Unreadable(`The document is nested deeper than ${deepest} elements`)
        handlers.open(localName(name), attributes)
      },
      ontext(text) {
        handlers.text?.(text)
      },
      onclosetag(name) {
        depth--
        handlers.close?.(localName(name))
      },
    },
    { xmlMode: true },
  )
  const decoder = new TextDecoder(encodingOf(bytes))
  for (let at = 0; at < bytes.length; at += sliceSize)
    parser.write(decoder.decode(bytes.subarray(at, at + sliceSize), { stream: true }))
  parser.end(decoder.decode())
}
