import { dirname } from 'node:path'
import type { Sources } from './imports.ts'
import { type Declared, declaredRoutes } from './routes.ts'

/** Where an operation is made, from its route to its views. */
export type Found = {
  route: string
  commands: readonly string[]
  queries: readonly string[]
  /** What a route goes to besides them. */
  work: readonly string[]
  events: readonly string[]
  views: readonly string[]
}

/** `turns` makes what has the type `Turns`. */
const maker = (type: string) =>
  new RegExp(`^export const ${type.charAt(0).toLowerCase()}${type.slice(1)} `, 'm')

const unique = (all: readonly string[]): string[] => [...new Set(all)].toSorted()

/** Every request's, or next to every one's: explained once, above the table. */
const everywhere = new Set(['src/security/delegate.ts', 'src/turns/require-subscription.ts'])

/** All that turns do, from a message to its end: the rows of chats tell it. */
const turns = 'src/turns/turns.ts'
const beginsTurns = 'src/turns/begin-turn.ts'

const isCommand = (file: string) => file.startsWith('commands/')
/** A command's file may also have what is checked of those for whom others act. */
const isCheck = (name: string) => name === 'RequireProvisionedUser'
const isQuery = (file: string) => /^queries\/(?!page\.|opened\.)/.test(file)
/** Rooms of work: what they import is what a route does by way of them. */
const isWork = (file: string) => /^src\/(turns|feeds|rag|reactors|projector)\//.test(file)

const allViews = 'projections/all.ts'
const allEvents = 'src/domain/categories.ts'

/** Who keeps what a route knows by its port. */
const keeps: Readonly<Record<string, string>> = {
  'src/ports/knowledge.ts': 'src/rag/knowledge.ts',
}

/** Says of an operation where it is made, by what its route imports, types included. */
export const tracing = (sources: Sources) => {
  const { files, importsOf, textOf } = sources
  const views = importsOf(allViews)
    .filter(({ typesOnly }) => !typesOnly)
    .map(({ from }) => from)
  const isView = (file: string) => views.includes(file)

  const reachedFrom = (starts: readonly string[]): string[] => {
    const seen = new Set<string>()
    const enters = (file: string) => isCommand(file) || isQuery(file) || isWork(file)
    const walk = (file: string): void => {
      if (seen.has(file) || everywhere.has(file)) return
      seen.add(file)
      if (!enters(file) || (file === turns && !seen.has(beginsTurns))) return
      for (const { from, names } of importsOf(file))
        if (enters(from) && names.some((name) => !isCheck(name))) walk(from)
    }
    for (const start of starts) walk(start)
    return [...seen]
  }

  /** The events of the streams that a command decides on, by what it imports besides types. */
  const decidedIn = (command: string): string[] =>
    importsOf(command)
      .filter(({ from, typesOnly }) => !typesOnly && from.startsWith('src/domain/'))
      .map(({ from }) => ({ from, events: `${dirname(from)}/events.ts` }))
      .filter(({ from, events }) => importsOf(from).some((one) => one.from === events))
      .map(({ events }) => events)

  const foldedIn = (view: string): string[] => {
    const modules = importsOf(view).map(({ from }) => from)
    const events = modules.filter((from) => /^src\/domain\/[^/]+\/events\.ts$/.test(from))
    return events.length > 0 ? events : [allEvents]
  }

  const made = ({ file, uses }: Declared): Found => {
    const used = uses
      .filter(({ name }) => !isCheck(name))
      .map(({ name, from }) => ({ name, from: keeps[from] ?? from }))
    const reached = reachedFrom(used.map(({ from }) => from))
    const commands = reached.filter(isCommand)
    const queries = reached.filter(isQuery)
    const makers = used.filter(
      ({ name, from }) =>
        isWork(from) &&
        reached.includes(from) &&
        (Object.values(keeps).includes(from) || maker(name).test(textOf(from))),
    )
    const imported = queries.flatMap((query) => importsOf(query).map(({ from }) => from))
    const asked = imported.includes(allViews) ? [allViews] : imported.filter(isView)
    const decided = commands.flatMap(decidedIn)
    const folded = views.filter((view) => foldedIn(view).some((one) => decided.includes(one)))
    const read = asked.flatMap((view) => (view === allViews ? [allEvents] : foldedIn(view)))
    const events = decided.length > 0 ? decided : read
    return {
      route: file,
      commands: unique(commands),
      queries: unique(queries),
      work: unique(makers.map(({ from }) => from)),
      events: events.includes(allEvents) ? [allEvents] : unique(events),
      views: unique([...asked, ...folded]),
    }
  }

  const declared = files
    .filter((file) => file.startsWith('src/http/routes/'))
    .flatMap((file) => declaredRoutes(file, sources))

  /** For an operation of the OpenAPI document. @throws if not exactly one route is declared for it */
  return (method: string, path: string): Found => {
    const fitting = declared.filter(
      (route) =>
        route.method === method && path.endsWith(route.path.replace(/:(\w+)|(\*)/g, '{$1$2}')),
    )
    const longest = Math.max(...fitting.map((route) => route.path.length))
    const [route, other] = fitting.filter((one) => one.path.length === longest)
    if (route && !other) return made(route)
    throw new Error(`${method} ${path} is declared ${fitting.length} times`)
  }
}
