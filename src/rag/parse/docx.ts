import { type Block, Unreadable } from '../block.ts'
import { graphicsOf } from './graphics.ts'
import { openPackage, type Package } from './office-package.ts'
import { type OfficeHooks, writePart } from './office-text.ts'
import { textFlow } from './text-flow.ts'
import { attributeOf, readXml } from './xml.ts'

const kinds = new Set(
  'styles header footer footnotes endnotes comments chart chartEx diagramData'.split(' '),
)

type Style = { name: string; basedOn?: string | undefined; outline?: number | undefined }

/** How far a style is looked up in the styles that it is based on. */
const mostAncestors = 20
const headingName = /^heading ([1-9])$/i

/** The heading level of each paragraph style, by its id: by its name or its outline level. */
const levelsIn = (bytes: Uint8Array | undefined) => {
  const styles = new Map<string, Style>()
  let style: Style | undefined
  if (bytes)
    readXml(bytes, {
      open(name, attributes) {
        const value = attributeOf(attributes, 'val') ?? ''
        if (name === 'style') {
          style = { name: '' }
          styles.set(attributeOf(attributes, 'styleId') ?? '', style)
        }
        if (!style) return
        if (name === 'name') style.name = value
        if (name === 'basedOn') style.basedOn = value
        if (name === 'outlineLvl') style.outline = Number(value)
      },
      close(name) {
        if (name === 'style') style = undefined
      },
    })
  return (id: string): number | undefined => {
    let style = styles.get(id)
    for (let n = 0; style && n < mostAncestors; n++) {
      const level = headingName.exec(style.name)?.[1]
      if (level) return Number(level)
      if (/^title$/i.test(style.name)) return 0
      if (style.outline !== undefined) return style.outline < 9 ? style.outline + 1 : undefined
      style = styles.get(style.basedOn ?? '')
    }
    return undefined
  }
}

/** Notes and comments by their kind and id, each given once. */
const notesIn = (files: Package, levelOf: (style: string) => number | undefined) => {
  const notes = new Map<string, Block[]>()
  for (const { kind, target } of files.relationsOf(files.main)) {
    const bytes = files.part(target)
    const element = { footnotes: 'footnote', endnotes: 'endnote', comments: 'comment' }[kind]
    if (!bytes || !element) continue
    const flow = textFlow(() => ({ place: element }))
    let id = ''
    let author = ''
    let start = 0
    writePart(bytes, flow, {
      levelOf,
      open(name, attributes) {
        if (name !== element) return
        id = attributeOf(attributes, 'id') ?? ''
        start = flow.blocks.length
        author = attributeOf(attributes, 'author') ?? ''
      },
      close(name) {
        if (name !== element) return
        const [first, ...rest] = flow.blocks.splice(start)
        if (!first) return
        const text = author ? `${author}: ${first.text}` : first.text
        notes.set(`${element} ${id}`, [{ ...first, text }, ...rest])
      },
    })
  }
  return {
    take(kind: string, id: string): Block[] {
      const key = `${kind} ${id}`
      const blocks = notes.get(key) ?? []
      notes.delete(key)
      return blocks
    },
    rest: (): Block[] => [...notes.values()].flat(),
  }
}

/**
 * Text of a Word document: its headers and footers, then what it says, a note or comment behind the
 * paragraph that refers to it. @throws Unreadable
 */
export const parseDocx = (bytes: Uint8Array): Block[] => {
  const files = openPackage(bytes, 'word/document.xml', kinds)
  const document = files.part(files.main)
  const relations = files.relationsOf(files.main)
  const levelOf = levelsIn(files.part(relations.find(({ kind }) => kind === 'styles')?.target))
  const notes = notesIn(files, levelOf)
  const writtenParts = new Set<string>()
  let root = ''

  const margins = ['header', 'footer'].flatMap((kind) => {
    const flow = textFlow(() => ({ place: kind, part: 0 }))
    const texts = new Set<string>()
    for (const { target } of relations.filter((relation) => relation.kind === kind)) {
      const part = files.part(target)
      const start = flow.blocks.length
      if (part && !writtenParts.has(target))
        writePart(part, flow, { graphic: graphicsOf(files, target, flow, writtenParts) })
      writtenParts.add(target)
      const own = flow.blocks.splice(start)
      flow.blocks.push(...own.filter(({ text }) => !texts.has(text)))
      for (const { text } of own) texts.add(text)
    }
    return flow.blocks
  })

  const flow = textFlow((number) => ({ place: `paragraph ${number}` }))
  const add = (blocks: readonly Block[]): void => {
    for (const { level: _, ...block } of blocks) flow.add(block)
  }
  const hooks: OfficeHooks = {
    levelOf,
    open(name) {
      root ||= name
    },
    graphic: graphicsOf(files, files.main, flow, writtenParts),
    reference: (kind, id) => add(notes.take(kind, id)),
  }
  if (document) writePart(document, flow, hooks)
  if (root !== 'document') throw new Unreadable('The file is not a Word document')
  add(notes.rest())
  return [...margins, ...flow.blocks]
}
