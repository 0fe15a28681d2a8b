import { XMLParser } from 'fast-xml-parser'
import { strFromU8 } from 'fflate'
import { type Block, deepest, Unreadable } from '../block.ts'
import { unzipped } from '../unzip.ts'

const wanted = /^ppt\/(?:presentation\.xml|_rels\/presentation\.xml\.rels|slides\/slide\d+\.xml)$/
const slideName = /slides\/slide(\d+)\.xml$/
const titles = new Set(['title', 'ctrTitle'])

/** An element as `preserveOrder` gives it: children under its name, attributes under `:@`. */
type Element = Record<string, unknown>

const xml = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  trimValues: false,
  parseTagValue: false,
  htmlEntities: true,
  maxNestedTags: deepest,
})

const isElement = (value: unknown): value is Element => typeof value === 'object' && value !== null

const childrenOf = (element: Element, name: string): Element[] => {
  const inside = element[name]
  return Array.isArray(inside) ? inside.filter(isElement) : []
}

const nameOf = (element: Element): string => Object.keys(element).find((key) => key !== ':@') ?? ''

const attribute = (element: Element, name: string): string | undefined => {
  const attributes = element[':@']
  const value = isElement(attributes) ? attributes[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** All elements of a name at any depth, in order, without those nested in one another. */
const all = (elements: readonly Element[], name: string): Element[] =>
  elements.flatMap((element) => {
    const own = nameOf(element)
    return own === name ? [element] : all(childrenOf(element, own), name)
  })

const textIn = (paragraph: Element): string =>
  all(childrenOf(paragraph, 'a:p'), 'a:t')
    .flatMap((run) => childrenOf(run, 'a:t').map((part) => part['#text'] ?? ''))
    .join('')

const read = (part: Uint8Array): Element[] => {
  try {
    return xml.parse(strFromU8(part)).filter(isElement)
  } catch {
    throw new Unreadable('The presentation is damaged')
  }
}

/** The slides in the order of the presentation; slides that it does not list come last. */
const slidesOf = (parts: Record<string, Uint8Array>): Uint8Array[] => {
  const part = (name: string) => (parts[name] ? read(parts[name]) : [])
  const targets = new Map(
    all(part('ppt/_rels/presentation.xml.rels'), 'Relationship').map((one) => [
      attribute(one, 'Id'),
      attribute(one, 'Target')?.replace(/^\/?(?:ppt\/)?/, 'ppt/'),
    ]),
  )
  const shown = all(part('ppt/presentation.xml'), 'p:sldId').map((one) =>
    targets.get(attribute(one, 'r:id')),
  )
  const number = (name: string) => Number(slideName.exec(name)?.[1])
  const names = Object.keys(parts)
    .filter((name) => slideName.test(name))
    .toSorted((left, right) => number(left) - number(right))
  return [...new Set([...shown, ...names])].flatMap((name) => parts[name ?? ''] ?? [])
}

const blocksOf = (slide: Uint8Array, number: number): Block[] => {
  const at = { place: `slide ${number}`, part: number }
  const elements = read(slide)
  const paragraphs = (within: readonly Element[]) =>
    all(within, 'a:p')
      .map(textIn)
      .filter((text) => text.trim() !== '')
  const shapes = all(elements, 'p:sp').map((shape) => childrenOf(shape, 'p:sp'))
  const isTitle = (shape: readonly Element[]) =>
    all(shape, 'p:ph').some((one) => titles.has(attribute(one, 'type') ?? ''))
  const title = shapes.filter(isTitle).flatMap(paragraphs).join(' ')
  const texts = shapes.filter((shape) => !isTitle(shape)).flatMap(paragraphs)
  const tables = all(elements, 'a:tr').map((row) => paragraphs(childrenOf(row, 'a:tr')).join(' | '))
  return [
    ...(title ? [{ text: title, ...at, level: 1 }] : []),
    ...[...texts, ...tables].map((text) => ({ text, ...at })),
  ]
}

/** The text of every slide, its title as a heading. @throws Unreadable */
export const parsePptx = (bytes: Uint8Array): Block[] => {
  const slides = slidesOf(unzipped(bytes, wanted))
  if (slides.length === 0) throw new Unreadable('The file is not a presentation, or has no slides')
  return slides.flatMap((slide, n) => blocksOf(slide, n + 1))
}
