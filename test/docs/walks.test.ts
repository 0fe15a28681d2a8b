import { readFileSync } from 'node:fs'
import t from 'tap'
import { eventsByCategory } from '../../src/domain/categories.ts'

/** The pages that follow one request, with the files that a reader opens at most. */
const walks = [
  { page: 'docs/a-turn.md', most: 15 },
  { page: 'docs/an-upload.md', most: 12 },
]

const eventTypes = new Set(Object.values(eventsByCategory).flatMap((table) => Object.keys(table)))

/** Types of `src/turns` that a page names. */
const otherTypes = new Set(['LiveTurn', 'TurnRequest'])

for (const { page, most } of walks) {
  const text = readFileSync(page, 'utf8')
  const links = [...text.matchAll(/\[`(\w+)`\]\(\.\.\/([^)]+)\)/g)]
  const named = new Map(links.map(([, name = '', file = '']) => [name, file]))

  t.test(`each function on ${page} is exported by the file that its link names`, (t) => {
    t.ok(named.size > 20)
    for (const [name, file] of named) {
      const source = readFileSync(file, 'utf8')
      t.match(
        source,
        new RegExp(`^export (?:const|function\\*?|async function\\*?) ${name}\\b`, 'm'),
        name,
      )
    }
    t.end()
  })

  t.test(`each event on ${page} is stored`, (t) => {
    const events = [...text.matchAll(/`([A-Z]\w+)`/g)].flatMap(([, name = '']) => name)
    for (const name of events) t.ok(eventTypes.has(name) || otherTypes.has(name), name)
    t.end()
  })

  t.test(`each function of the diagram is on ${page}`, (t) => {
    const diagram = text.match(/```mermaid\n([\s\S]+?)```/)?.[1] ?? ''
    const calls = [...diagram.matchAll(/: (\w+)$/gm)].map(([, name = '']) => name)
    t.ok(calls.length > 8)
    for (const name of calls) t.ok(named.has(name), name)
    t.end()
  })

  t.test(`the way on ${page} is read in at most ${most} files`, (t) => {
    const steps = [...text.matchAll(/^\d+\. \[`\w+`\]\(([^)]+)\)/gm)].map(([, file]) => file)
    t.ok(steps.length > 10)
    t.ok(new Set(steps).size <= most, `${new Set(steps).size}`)
    t.end()
  })
}

const turnPage = readFileSync('docs/a-turn.md', 'utf8')
const turnSteps = turnPage.slice(turnPage.indexOf('\n## Begin'), turnPage.indexOf('```mermaid'))

t.test('the steps of a turn link at most fifteen files, and all of them count', (t) => {
  const files = [...turnSteps.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file)
  t.ok(files.length > 10)
  t.ok(new Set(files).size <= 15, `${new Set(files).size}`)
  t.end()
})

t.test('each function that a step of a turn names is linked on the page', (t) => {
  /** A field of the body, and parts of `sendTurn`. */
  const noFunctions = new Set(['stream', 'started', 'runNow'])
  const names = [...turnSteps.matchAll(/`([a-z]\w+)`/g)].map(([, name = '']) => name)
  t.ok(names.length > 30)
  for (const name of names)
    t.ok(noFunctions.has(name) || turnPage.includes(`[\`${name}\`](../`), name)
  t.end()
})
