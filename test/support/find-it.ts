import { dirname } from 'node:path'
import { projections } from '../../projections/all.ts'
import type { AnyProjection } from '../../projections/projection.ts'
import { emitting } from './emitted.ts'
import type { Sources } from './imports.ts'
import { type Declared, declaredRoutes } from './routes.ts'

/** Where an operation is made, from its route to its views. */
export type Trace = {
  route: string
  commands: readonly string[]
  queries: readonly string[]
  /** What a route goes to besides them. */
  work: readonly string[]
  /** What the commands decide by, besides the events. */
  deciders: readonly string[]
  /** Of the streams that the commands decide on; for a question alone, of what its views fold. */
  events: readonly string[]
  /** Read by a query, or changed by an event that the commands may append. */
  views: readonly string[]
  /** Workers on those views: they continue after the request is answered. */
  workers: readonly string[]
}

/** `turns` makes what has the type `Turns`. */
const maker = (type: string) =>
  new RegExp(`^export const ${type.charAt(0).toLowerCase()}${type.slice(1)} `, 'm')

const unique = (all: readonly string[]): string[] => [...new Set(all)].toSorted()

/** Every request's, or next to every one's: explained once, above the sections. */
const everywhere = new Set(['src/security/delegate.ts', 'src/turns/begin/require-subscription.ts'])

/** All that turns do, from a message to its end: the sections of chats tell it. */
const turns = 'src/turns/run/turns.ts'
const beginsTurns = 'src/turns/begin/begin-turn.ts'

const isCommand = (file: string) => file.startsWith('commands/')
const isQuery = (file: string) => /^(queries\/(?!page\.|opened\.)|src\/caches\/find-)/.test(file)
/** Folders whose imports count as those of the routes that use them. */
const isWork = (file: string) => /^src\/(turns|feeds|rag|workers|metering|projector)\//.test(file)

const allViews = 'projections/all.ts'
const allEvents = 'src/domain/categories.ts'

/** The implementation of each port that routes use. */
const implementations: Readonly<Record<string, string>> = {
  'src/ports/knowledge.ts': 'src/rag/knowledge.ts',
}

/** A view of the events themselves changes with every one: no section names it for that. */
const handledBy = (projection: AnyProjection): string[] => {
  if (!('events' in projection)) return []
  const { creates, changes, removes = [], clears = {} } = projection
  return [creates, changes, clears].flatMap((handlers) => Object.keys(handlers)).concat(removes)
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
        if (enters(from) && names.length > 0) walk(from)
    }
    for (const start of starts) walk(start)
    return [...seen]
  }

  const eventsBeside = (file: string) => `${dirname(file)}/events.ts`

  /** Deciders of a command: its imports, types apart, from folders with events. */
  const decidersOf = (command: string): string[] =>
    importsOf(command)
      .filter(({ from, typesOnly }) => !typesOnly && from.startsWith('src/domain/'))
      .map(({ from }) => from)
      .filter((from) => importsOf(from).some((imported) => imported.from === eventsBeside(from)))

  const emittedBy = emitting(sources)

  /** Views that one of these events changes. */
  const changedBy = (events: ReadonlySet<string>): string[] =>
    projections
      .filter((projection) => handledBy(projection).some((type) => events.has(type)))
      .flatMap(({ name }) => views.filter((view) => textOf(view).includes(`  name: '${name}',`)))

  const workers = files.filter(
    (file) => file.startsWith('src/workers/') && importsOf(file).some(({ from }) => isView(from)),
  )

  const foldedIn = (view: string): string[] => {
    const modules = importsOf(view).map(({ from }) => from)
    const events = modules.filter((from) => /^src\/domain\/[^/]+\/events\.ts$/.test(from))
    return events.length > 0 ? events : [allEvents]
  }

  const traceOf = ({ file, uses }: Declared): Trace => {
    const used = uses.map(({ name, from }) => ({ name, from: implementations[from] ?? from }))
    const reached = reachedFrom(used.map(({ from }) => from))
    const commands = reached.filter(isCommand)
    const queries = reached.filter(isQuery)
    const makers = used.filter(
      ({ name, from }) =>
        isWork(from) &&
        !workers.includes(from) &&
        reached.includes(from) &&
        (Object.values(implementations).includes(from) || maker(name).test(textOf(from))),
    )
    const imported = queries.flatMap((query) => importsOf(query).map(({ from }) => from))
    const views = imported.includes(allViews) ? [allViews] : imported.filter(isView)
    const deciders = commands.flatMap(decidersOf)
    const changed = changedBy(new Set(commands.flatMap(emittedBy)))
    const follows = (file: string) => importsOf(file).some(({ from }) => changed.includes(from))
    const read = views.flatMap((view) => (view === allViews ? [allEvents] : foldedIn(view)))
    const events = deciders.length > 0 ? deciders.map(eventsBeside) : read
    return {
      route: file,
      commands: unique(commands),
      queries: unique(queries),
      work: unique(makers.map(({ from }) => from)),
      deciders: unique(deciders),
      events: events.includes(allEvents) ? [allEvents] : unique(events),
      views: unique([...views, ...changed]),
      workers: workers.filter((file) => reached.includes(file) || follows(file)),
    }
  }

  const declared = files
    .filter((file) => file.startsWith('src/http/routes/'))
    .flatMap((file) => declaredRoutes(file, sources))

  /** The trace of an operation of the OpenAPI document. @throws unless exactly one route fits */
  return (method: string, path: string): Trace => {
    const fitting = declared.filter(
      (route) =>
        route.method === method && path.endsWith(route.path.replace(/:(\w+)|(\*)/g, '{$1$2}')),
    )
    const longest = Math.max(...fitting.map((route) => route.path.length))
    const [route, other] = fitting.filter((match) => match.path.length === longest)
    if (route && !other) return traceOf(route)
    throw new Error(`${method} ${path} is declared ${fitting.length} times`)
  }
}
