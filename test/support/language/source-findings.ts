import ts from 'typescript'
import type { Finding, Kind } from './kinds.ts'
import { hasClause, hasOddWord, situationIn } from './wording.ts'

const product = /^(src|commands|queries|projections)\//
/** Routes are lists of registrations, so their length says nothing. */
const routes = /^src\/http\/(routes|mcp)\//
const longest = 60

const lineFindings = (file: string, text: string): Finding[] =>
  text.split('\n').flatMap((line, n): Finding[] => {
    if (!/^\s*(\/\/|\*|\/\*)/.test(line)) return []
    const place = `${file}:${n + 1}`
    const odd: Finding = {
      kind: 'comments and test titles with such wording',
      place: `${place} ${line.trim().slice(0, 100)}`,
    }
    return [
      ...(line.length > 100 ? [{ kind: 'comment lines over 100 columns', place } as const] : []),
      ...(hasClause(line) || hasOddWord(line) ? [odd] : []),
    ]
  })

/** Whether a function only builds others: then its length is theirs. */
const isFactory = (body: ts.ConciseBody): boolean =>
  ts.isBlock(body)
    ? body.statements.some(
        (statement) =>
          ts.isReturnStatement(statement) &&
          statement.expression !== undefined &&
          (ts.isObjectLiteralExpression(statement.expression) ||
            ts.isArrowFunction(statement.expression)),
      )
    : ts.isArrowFunction(body) || ts.isParenthesizedExpression(body)

const bodyOf = (node: ts.Node): ts.ConciseBody | undefined =>
  ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isMethodDeclaration(node)
    ? node.body
    : undefined

const nameOf = (node: ts.Node): string | undefined => {
  const isNamed =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isInterfaceDeclaration(node)
  return isNamed && node.name && ts.isIdentifier(node.name) ? node.name.text : undefined
}

const isPromiseTest = (node: ts.Node, tree: ts.SourceFile): boolean =>
  (ts.isCallExpression(node) &&
    /^(isPromise|isThenable|isPromiseLike)$/.test(node.expression.getText(tree))) ||
  (ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword &&
    node.right.getText(tree) === 'Promise')

const titleOf = (node: ts.Node, tree: ts.SourceFile): string | undefined => {
  if (!ts.isCallExpression(node) || !/(^|\.)(test|it)$/.test(node.expression.getText(tree)))
    return undefined
  const [title] = node.arguments
  return title && ts.isStringLiteralLike(title) ? title.text : undefined
}

/** What a source file has that readers stumble over. */
export const sourceFindings = (file: string, text: string): Finding[] => {
  const findings = lineFindings(file, text)
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lineAt = (offset: number) => tree.getLineAndCharacterOfPosition(offset).line
  const add = (kind: Kind, node: ts.Node, detail: string | number) =>
    findings.push({ kind, place: `${file}:${lineAt(node.getStart(tree)) + 1} ${detail}` })
  const visit = (node: ts.Node): void => {
    const name = nameOf(node)
    const situation = name === undefined ? undefined : situationIn(name)
    if (situation === 'whole') add('names that name a situation', node, name ?? '')
    if (situation === 'beginning') add('names that begin with such a word', node, name ?? '')
    const title = file.startsWith('test/') ? titleOf(node, tree) : undefined
    if (title && (hasClause(title) || hasOddWord(title)))
      add('comments and test titles with such wording', node, title)
    if (product.test(file)) {
      if (isPromiseTest(node, tree)) add('value-or-promise tests', node, '')
      const body = bodyOf(node)
      const lines = lineAt(node.end) - lineAt(node.getStart(tree)) + 1
      if (body && lines > longest && !routes.test(file) && !isFactory(body))
        add('functions over 60 lines', node, lines)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  if (product.test(file)) {
    const amount = text.split('\n').length - 1
    findings.push({ kind: 'lines in src, commands, queries and projections', place: file, amount })
  }
  return findings
}
