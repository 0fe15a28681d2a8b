import { readFileSync } from 'node:fs'
import t from 'tap'
import { eventsByCategory } from '../../src/domain/categories.ts'

const page = readFileSync('docs/a-turn.md', 'utf8')
const links = [...page.matchAll(/\[`(\w+)`\]\(\.\.\/([^)]+)\)/g)]
const named = new Map(links.map(([, name = '', file = '']) => [name, file]))

t.test(
  'each function on the page about a turn is exported by the file that its link names',
  (t) => {
    t.ok(named.size > 30)
    for (const [name, file] of named) {
      const text = readFileSync(file, 'utf8')
      t.match(
        text,
        new RegExp(`^export (?:const|function\\*?|async function\\*?) ${name}\\b`, 'm'),
        name,
      )
    }
    t.end()
  },
)

t.test('each event on the page about a turn is stored', (t) => {
  const types = new Set(Object.values(eventsByCategory).flatMap((table) => Object.keys(table)))
  const events = [...page.matchAll(/`([A-Z]\w+)`/g)].flatMap(([, name = '']) => name)
  for (const name of events.filter((name) => name !== 'LiveTurn')) t.ok(types.has(name), name)
  t.end()
})

t.test('each function of the diagram is on the page', (t) => {
  const diagram = page.match(/```mermaid\n([\s\S]+?)```/)?.[1] ?? ''
  const calls = [...diagram.matchAll(/: (\w+)$/gm)].map(([, name = '']) => name)
  t.ok(calls.length > 8)
  for (const name of calls) t.ok(named.has(name), name)
  t.end()
})

t.test('a chat is read in at most fifteen files', (t) => {
  const steps = [...page.matchAll(/^\d+\. \[`\w+`\]\(([^)]+)\)/gm)].map(([, file]) => file)
  t.ok(steps.length > 10)
  t.ok(new Set(steps).size <= 15, `${new Set(steps).size}`)
  t.end()
})
