import ts from 'typescript'
import { eventsByCategory } from '../../src/domain/categories.ts'
import type { Sources } from './imports.ts'

const known = new Set(Object.values(eventsByCategory).flatMap((events) => Object.keys(events)))

const isDecider = (name: string) => /^decide[A-Z]/.test(name)

/** What a file declares at its top, by name. */
const declarationsIn = (file: string, text: string): ReadonlyMap<string, ts.Node> => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const variables = source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
  return new Map(variables.map((variable) => [variable.name.getText(), variable]))
}

/** `type: 'UserRegistered'`, also `as const`. */
const eventTypeIn = (node: ts.Node): string | undefined => {
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== 'type') return undefined
  const { initializer } = node
  const value = ts.isAsExpression(initializer) ? initializer.expression : initializer
  return ts.isStringLiteral(value) && known.has(value.text) ? value.text : undefined
}

/** Events that a command may append: the literals in the deciders that it imports. */
export const emitting = ({ textOf, importsOf }: Sources) => {
  const parsed = new Map<string, ReadonlyMap<string, ts.Node>>()
  const declared = (file: string) => {
    const declarations = parsed.get(file) ?? declarationsIn(file, textOf(file))
    parsed.set(file, declarations)
    return declarations
  }

  const writtenIn = (file: string, name: string): Set<string> => {
    const events = new Set<string>()
    const seen = new Set<string>()
    const reach = (file: string, name: string): void => {
      const node = declared(file).get(name)
      if (!node || seen.has(`${file} ${name}`)) return
      seen.add(`${file} ${name}`)
      const walk = (node: ts.Node): void => {
        const type = eventTypeIn(node)
        if (type) events.add(type)
        if (ts.isIdentifier(node)) {
          const from = importsOf(file).find(({ names }) => names.includes(node.text))?.from ?? file
          if (from.startsWith('src/domain/')) reach(from, node.text)
        }
        ts.forEachChild(node, walk)
      }
      walk(node)
    }
    reach(file, name)
    return events
  }

  /** All events of a decider's folder, where it is given the events and writes none itself. */
  const ofNoun = (file: string): string[] => {
    const events = textOf(`${file.slice(0, file.lastIndexOf('/'))}/events.ts`)
    return [...known].filter((type) => new RegExp(`^ {2}${type}:`, 'm').test(events))
  }

  return (command: string): string[] =>
    importsOf(command)
      .filter(({ from, typesOnly }) => !typesOnly && from.startsWith('src/domain/'))
      .flatMap(({ from, names }) => names.filter(isDecider).map((name) => ({ from, name })))
      .flatMap(({ from, name }) => {
        const events = writtenIn(from, name)
        return events.size > 0 ? [...events] : ofNoun(from)
      })
}
