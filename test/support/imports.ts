import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One module that another one imports, types included. */
export type Import = { from: string; names: readonly string[]; typesOnly: boolean }

const statement = /^(?:import|export) (?<type>type )?(?<what>[^'"]*?) from '(?<from>\.[^']+)'/gm
const dynamic = /import\('(?<from>\.[^']+)'\)|new URL\('(?<file>[^']+)\.js', import\.meta\.url\)/g

const importsIn = (file: string, source: string): Import[] => {
  const at = (from: string) => join(dirname(file), from)
  const named = [...source.matchAll(statement)].map(({ groups = {} }) => {
    const specifiers = (groups.what ?? '').replace(/[{}]/g, '').split(',')
    const parts = specifiers.map((part) => part.trim()).filter(Boolean)
    return {
      from: at(groups.from ?? ''),
      names: parts.map((part) => part.replace(/^type /, '').replace(/ as .*$/, '')),
      typesOnly: groups.type !== undefined || parts.every((part) => part.startsWith('type ')),
    }
  })
  const loaded = [...source.matchAll(dynamic)].map(({ groups = {} }) => ({
    from: at(groups.from ?? `${groups.file}.ts`),
    names: [],
    typesOnly: false,
  }))
  return [...named, ...loaded]
}

export const roots = ['src', 'commands', 'queries', 'projections'] as const

const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(root, file))
    .toSorted()

/** All sources and tests, with what each imports of the others. */
export const sources = () => {
  const text = new Map(
    [...roots, 'test'].flatMap(filesOf).map((file) => [file, readFileSync(file, 'utf8')]),
  )
  const imports = new Map([...text].map(([file, source]) => [file, importsIn(file, source)]))
  return {
    files: [...text.keys()],
    textOf: (file: string) => text.get(file) ?? '',
    importsOf: (file: string): readonly Import[] => imports.get(file) ?? [],
  }
}

export type Sources = ReturnType<typeof sources>
