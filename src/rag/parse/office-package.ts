import { posix } from 'node:path'
import { archiveOf } from '../unzip.ts'
import { attributeOf, readXml } from './xml.ts'

/** What a part refers to: the last word of the relationship's type, and the part's name. */
export type Relation = { id: string; kind: string; target: string }

const relationsName = /^(.*\/)?_rels\/([^/]*)\.rels$/

const relationsIn = (bytes: Uint8Array, folder: string): Relation[] => {
  const relations: Relation[] = []
  readXml(bytes, {
    open(name, attributes) {
      const [id, type, target] = ['Id', 'Type', 'Target'].map((key) => attributeOf(attributes, key))
      if (name !== 'Relationship' || !id || !type || !target) return
      if (attributeOf(attributes, 'TargetMode') === 'External') return
      const full = posix
        .join('/', posix.resolve(`/${folder}`, target))
        .slice(1)
        .toLowerCase()
      relations.push({ id, kind: type.slice(type.lastIndexOf('/') + 1), target: full })
    },
  })
  return relations
}

/**
 * The parts of an Office file that can be reached from its main part through relationships of some
 * kinds. A part has any name: only relationships say what it is. `usual` is the main part's name
 * where none says so. @throws Unreadable
 */
export const openPackage = (bytes: Uint8Array, usual: string, kinds: ReadonlySet<string>) => {
  const archive = archiveOf(bytes)
  const relations = new Map<string, Relation[]>()
  for (const [name, part] of archive((name) => relationsName.test(name))) {
    const [, folder = '', owner = ''] = relationsName.exec(name) ?? []
    relations.set(`${folder}${owner}`, relationsIn(part, folder))
  }
  const relationsOf = (part: string): readonly Relation[] => relations.get(part) ?? []
  const main = relationsOf('').find(({ kind }) => kind === 'officeDocument')?.target ?? usual
  const reached = new Set([main])
  for (const part of reached)
    for (const { kind, target } of relationsOf(part)) if (kinds.has(kind)) reached.add(target)
  const parts = archive((name) => reached.has(name))

  return {
    main,
    relationsOf,
    part: (name: string | undefined): Uint8Array | undefined => parts.get(name ?? ''),
  }
}

export type Package = ReturnType<typeof openPackage>
