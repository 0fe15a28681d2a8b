import { basename, dirname, join } from 'node:path'
import type { Sources } from '../imports.ts'
import { together } from '../tested.ts'

/** Folders whose tests run the whole application. */
const systemTests = ['test/http/routes/', 'test/app/', 'test/contract/']

/** Words of a file's name, in the singular. */
const wordsOf = (file: string): string[] =>
  basename(file)
    .replace(/\.(?:test\.)?ts$/, '')
    .split('-')
    .map((word) => word.replace(/s$/, ''))

/**
 * The test files that may notice a change of a source: its mirrored tests, all that import it
 * themselves, then those of the folder and of routes, app and contract that reach it. Those that
 * share a word of its name are first.
 */
export const testsOf = ({ files, importsOf }: Sources) => {
  const importers = new Map<string, string[]>()
  for (const file of files)
    for (const { from, typesOnly } of importsOf(file))
      if (!typesOnly) importers.set(from, [...(importers.get(from) ?? []), file])

  /** Files that reach a source, with the number of imports in between. */
  const distancesTo = (source: string): Map<string, number> => {
    const distances = new Map([[source, 0]])
    for (const [file, distance] of distances)
      for (const importer of importers.get(file) ?? [])
        if (!distances.has(importer)) distances.set(importer, distance + 1)
    return distances
  }

  return (source: string): string[] => {
    const distances = distancesTo(source)
    const mirrored = join('test', source.replace(/^src\//, '').replace(/\.ts$/, ''))
    const words = wordsOf(source)
    const rankOf = (test: string): number => {
      if (test.startsWith(`${mirrored}.`) || test.startsWith(`${mirrored}-`)) return 0
      const distance = distances.get(test) ?? Infinity
      if (distance === 1 || together[test]?.includes(source)) return 1
      const inFolder = dirname(test) === dirname(mirrored)
      if (!inFolder && !systemTests.some((folder) => test.startsWith(folder))) return Infinity
      const shared = wordsOf(test).filter((word) => words.includes(word)).length
      return distance + (inFolder ? 10 : 100) / (1 + 99 * shared)
    }
    const ranks = new Map(files.map((file) => [file, rankOf(file)]))
    const rank = (test: string) => ranks.get(test) ?? Infinity
    const isCandidate = (file: string) => file.endsWith('.test.ts') && rank(file) < Infinity
    return files.filter(isCandidate).toSorted((a, b) => rank(a) - rank(b))
  }
}
