const result = /^(?<not>not )?ok \d+(?: - (?<name>.*?))?(?: # (?<more>.*))?$/

export type Counts = { passed: number; failed: number; skipped: number }

/**
 * Reads the TAP of one process, whose outermost results are test files. Prints a line for each
 * file, failures in full and the reasons of skipped tests. Counts assertions.
 */
export const report = (say: (text: string) => void) => {
  /** Names of the subtests that a line is in, by depth; that of a file is the first. */
  const within: string[] = []
  /** What is to be shown of the present file, after the line of its own. */
  let inside: string[] = []
  /** Where the explanation of a result begins that is to be shown; undefined: in none. */
  let margin: number | undefined
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  const reported = new Set<string>()

  /** A file, with what it holds; a failed one that holds no failure is explained itself. */
  const onFile = (not: boolean, name: string, more: string) => {
    say(`${not ? 'FAILED' : 'ok'}  ${name}  ${more}`)
    const failed = inside.some((line) => line.startsWith('  FAILED'))
    for (const line of inside) say(line)
    inside = []
    margin = not && !failed ? 0 : undefined
    if (not && !failed) counts.failed++
    reported.add(name)
  }

  /** An assertion outside all tests, which may be of a test that is over. */
  const onStray = (not: boolean, name: string) => {
    say(`FAILED  asserted outside all tests: ${not ? 'not ok' : 'ok'} ${name}`)
    margin = 0
    counts.failed++
  }

  const onTest = (depth: number, not: boolean, name: string, more: string) => {
    const isSubtest = within[depth] === name
    const path = [...within.slice(1, depth), name].join(' > ')
    const skipped = /^(?:skip|todo) ?(?<why>.*)$/i.exec(more)?.groups
    if (skipped && !skipped.why?.startsWith('filter: '))
      inside.push(`  skipped: ${path} (${skipped.why})`)
    margin = not && !skipped && !isSubtest ? depth * 4 : undefined
    if (margin !== undefined) inside.push(`  FAILED  ${path}`)
    if (!isSubtest) counts[skipped ? 'skipped' : not ? 'failed' : 'passed']++
  }

  const line = (line: string): void => {
    const text = line.trimStart()
    const indent = line.length - text.length
    const depth = Math.floor(indent / 4)
    if (margin !== undefined && (indent > margin || text === '')) {
      const explained = line.slice(margin)
      if (margin === 0) say(explained)
      else if (text !== '') inside.push(`  ${explained}`)
      return
    }
    const subtest = /^# Subtest: (?<name>.*)$/.exec(text)?.groups?.name
    const match = result.exec(text)?.groups
    if (subtest) {
      within.length = depth
      within[depth] = subtest
    } else if (match) {
      const { not, name = '', more = '' } = match
      if (depth === 0 && within[0] !== name) onStray(not !== undefined, name)
      else if (depth === 0) onFile(not !== undefined, name, more)
      else onTest(depth, not !== undefined, name, more)
      return
    }
    margin = undefined
  }

  return { line, counts, reported }
}
