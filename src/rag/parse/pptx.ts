import { type Block, Unreadable } from '../block.ts'
import { graphicsOf } from './graphics.ts'
import { openPackage, type Package } from './office-package.ts'
import { writePart } from './office-text.ts'
import { textFlow } from './text-flow.ts'
import { attributeOf, readXml, relationIn } from './xml.ts'

const kinds = new Set('slide notesSlide comments chart chartEx diagramData'.split(' '))
/** Parts that belong to a slide. */
const remarks = new Set(['notesSlide', 'comments'])
const titles = new Set(['title', 'ctrTitle'])

/** The slides in the order of the presentation; slides that it does not list come last. */
const slidesOf = (files: Package): string[] => {
  const all = files.relationsOf(files.main).filter(({ kind }) => kind === 'slide')
  const targets = new Map(all.map(({ id, target }) => [id, target]))
  const names = new Set<string>()
  const bytes = files.part(files.main)
  if (bytes)
    readXml(bytes, {
      open(name, attributes) {
        const target = name === 'sldId' ? targets.get(relationIn(attributes) ?? '') : undefined
        if (target) names.add(target)
      },
    })
  for (const { target } of all) names.add(target)
  return [...names].filter((name) => files.part(name))
}

/** The text of a slide's part, its title apart. The number that a slide shows is left out. */
const readSlide = (files: Package, name: string, number: number, writtenParts: Set<string>) => {
  const flow = textFlow(() => ({ place: `slide ${number}`, part: number }))
  const title: string[] = []
  let start = 0
  let placeholder: string | undefined
  const bytes = files.part(name)
  if (bytes)
    writePart(bytes, flow, {
      graphic: graphicsOf(files, name, flow, writtenParts),
      open(name, attributes) {
        if (name === 'sp' || name === 'pic' || name === 'graphicFrame') {
          flow.endBlock()
          placeholder = undefined
          start = flow.blocks.length
        }
        if (name === 'ph') placeholder = attributeOf(attributes, 'type')
        if (name === 'txBody') flow.endBlock()
      },
      close(name) {
        if (name !== 'sp') return
        flow.endBlock()
        if (placeholder === 'sldNum') flow.blocks.splice(start)
        if (titles.has(placeholder ?? ''))
          title.push(...flow.blocks.splice(start).map(({ text }) => text))
      },
    })
  return { title: title.join(' '), blocks: flow.blocks }
}

/**
 * The text of every slide, its title as a heading, then its notes and comments.
 * @throws Unreadable
 */
export const parsePptx = (bytes: Uint8Array): Block[] => {
  const files = openPackage(bytes, 'ppt/presentation.xml', kinds)
  const slides = slidesOf(files)
  if (slides.length === 0) throw new Unreadable('The file is not a presentation, or has no slides')
  const writtenParts = new Set<string>()
  return slides.flatMap((name, n) => {
    const number = n + 1
    const { title, blocks } = readSlide(files, name, number, writtenParts)
    const more = files.relationsOf(name).flatMap(({ kind, target }) => {
      if (!remarks.has(kind) || writtenParts.has(target)) return []
      writtenParts.add(target)
      return readSlide(files, target, number, writtenParts).blocks
    })
    const heading = { text: title, place: `slide ${number}`, part: number, level: 1 }
    return [heading, ...blocks, ...more]
  })
}
