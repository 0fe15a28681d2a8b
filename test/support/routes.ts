import ts from 'typescript'
import type { Sources } from './imports.ts'

/** A route as it is declared, and what it imports to say what it is given and uses. */
export type Declared = {
  method: string
  path: string
  file: string
  uses: readonly { name: string; from: string }[]
}

const methods = new Set(['get', 'post', 'put', 'patch', 'delete'])

type Route = { method: string; path: string; node: ts.Node }
type Placed = { node: ts.Node; file: string }
/** What names mean in a file: its own declarations, and the types of what it is given. */
type Names = { locals: Map<string, Placed>; given: Map<string, Placed>; routes: Route[] }

/** A text that is written out, or made of constants of the file. */
const literal = (node: ts.Node | undefined): string | undefined => {
  if (!node) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isIdentifier(node)) {
    const constant = new RegExp(`const ${node.text} = '([^']*)'`)
    return constant.exec(node.getSourceFile().text)?.[1]
  }
  if (!ts.isTemplateExpression(node)) return undefined
  const parts = node.templateSpans.map((span) => [literal(span.expression), span.literal.text])
  return [node.head.text, ...parts.flat()].join('')
}

const property = (node: ts.Node | undefined, name: string): string | undefined => {
  if (!node || !ts.isObjectLiteralExpression(node)) return undefined
  const match = node.properties.find((member) => member.name?.getText() === name)
  if (!match) return undefined
  return literal(ts.isPropertyAssignment(match) ? match.initializer : match.name)
}

/** `http.get('/path', …)` and `http.route({ method, url, … })`. */
const routeOf = (node: ts.Node): Route | undefined => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression))
    return undefined
  const name = node.expression.name.text
  const [first] = node.arguments
  const [method, path] =
    name === 'route'
      ? [property(first, 'method')?.toLowerCase(), property(first, 'url')]
      : [methods.has(name) ? name : undefined, literal(first)]
  return method && path?.startsWith('/') ? { method, path, node } : undefined
}

/** The functions of an object that a function returns, each of which is used by itself. */
const returnedFunctions = (node: ts.Node): ts.ObjectLiteralElementLike[] => {
  if (!ts.isArrowFunction(node)) return []
  const last = ts.isBlock(node.body) ? node.body.statements.at(-1) : undefined
  const returned = last && ts.isReturnStatement(last) ? last.expression : undefined
  if (!returned || !ts.isObjectLiteralExpression(returned)) return []
  return returned.properties.filter(
    (member) =>
      ts.isMethodDeclaration(member) ||
      (ts.isPropertyAssignment(member) && ts.isArrowFunction(member.initializer)),
  )
}

const typesGiven = (node: ts.Node): [name: string, type: ts.Node][] => {
  if (ts.isPropertySignature(node) && node.type) return [[node.name.getText(), node.type]]
  if (!ts.isParameter(node) || !node.type) return []
  const { type, name } = node
  if (ts.isIdentifier(name)) return [[name.text, type]]
  return name.elements.flatMap((element) =>
    ts.isBindingElement(element) ? [[element.name.getText(), type] as [string, ts.Node]] : [],
  )
}

const namesIn = (file: string, text: string): Names => {
  const names: Names = { locals: new Map(), given: new Map(), routes: [] }
  const walk = (node: ts.Node): void => {
    const route = routeOf(node)
    if (route) names.routes.push(route)
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      const own = returnedFunctions(node.initializer)
      for (const member of own)
        names.locals.set(member.name?.getText() ?? '', { node: member, file })
      if (own.length === 0) names.locals.set(node.name.text, { node: node.initializer, file })
    }
    if (ts.isFunctionDeclaration(node) && node.name)
      names.locals.set(node.name.text, { node, file })
    for (const [name, type] of typesGiven(node))
      if (ts.isPropertySignature(node) || !names.given.has(name))
        names.given.set(name, { node: type, file })
    ts.forEachChild(node, walk)
  }
  walk(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return names
}

const identifiersIn = (node: ts.Node): Set<string> => {
  const identifiers = new Set<string>()
  const walk = (child: ts.Node): void => {
    if (ts.isIdentifier(child)) identifiers.add(child.text)
    ts.forEachChild(child, walk)
  }
  walk(node)
  return identifiers
}

/** Where routes share how they answer; its names count as those of the route. */
const isShared = (file: string) =>
  /^src\/http\/((wire|streams|ws)\/|routes\/credential-answers\.)/.test(file)

/** Every route that a file of `src/http/routes` declares. */
export const declaredRoutes = (file: string, { textOf, importsOf }: Sources): Declared[] => {
  const seen = new Set<string>()
  const all = (module: string): Names[] => {
    if (seen.has(module)) return []
    seen.add(module)
    const shared = importsOf(module).map(({ from }) => from)
    return [namesIn(module, textOf(module)), ...shared.filter(isShared).flatMap(all)]
  }
  const scopes = all(file)
  const { routes = [] } = scopes[0] ?? {}
  const lookUp = (what: 'locals' | 'given', name: string): Placed | undefined =>
    scopes.map((names) => names[what].get(name)).find(Boolean)
  const holdsRoutes = ({ node, file: of }: Placed) =>
    of === file && routes.some((route) => route.node.pos >= node.pos && route.node.end <= node.end)

  return routes.map(({ method, path, node }) => {
    const uses: { name: string; from: string }[] = []
    const names = new Set<string>()
    const reach = (from: Placed): void => {
      for (const name of identifiersIn(from.node)) {
        const key = `${from.file} ${name}`
        if (names.has(key)) continue
        names.add(key)
        const imported = importsOf(from.file).find((imported) => imported.names.includes(name))
        if (imported) uses.push({ name, from: imported.from })
        const local = lookUp('locals', name)
        if (local && !holdsRoutes(local)) reach(local)
        const given = lookUp('given', name)
        if (given) reach(given)
      }
    }
    reach({ node, file })
    return { method, path, file, uses }
  })
}
