import ts from 'typescript'

/** A small change of a source: `text` replaces the characters from `start` to `end`. */
export type Mutation = { line: number; start: number; end: number; text: string; change: string }

const { SyntaxKind: Kind } = ts

/** Operators and their replacement. */
const operators: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [Kind.PlusToken, '-'],
  [Kind.MinusToken, '+'],
  [Kind.AsteriskToken, '/'],
  [Kind.SlashToken, '*'],
  [Kind.PlusEqualsToken, '-='],
  [Kind.MinusEqualsToken, '+='],
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
  [Kind.AmpersandAmpersandToken, '||'],
  [Kind.BarBarToken, '&&'],
  [Kind.QuestionQuestionToken, '&&'],
])

const hasNoCode = (node: ts.Node): boolean =>
  ts.isTypeNode(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  ts.isModuleDeclaration(node)

const conditionOf = (node: ts.Node): ts.Expression | undefined => {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return node.expression
  return ts.isConditionalExpression(node) || ts.isForStatement(node) ? node.condition : undefined
}

const isText = (node: ts.Node): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)

const isRefusalCode = ({ parent }: ts.StringLiteral): boolean =>
  ts.isCallExpression(parent) && parent.expression.getText() === 'refusal'

const replacementOf = (node: ts.Node): string | undefined => {
  if (ts.isNumericLiteral(node)) return `(${node.getText()} + 1)`
  if (node.kind === Kind.TrueKeyword) return 'false'
  if (node.kind === Kind.FalseKeyword) return 'true'
  if (ts.isStringLiteral(node) && isRefusalCode(node)) return "'another_code'"
  if (ts.isAwaitExpression(node)) return node.expression.getText()
  if (ts.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken)
    return node.operand.getText()
  if (ts.isThrowStatement(node)) return ';'
  const isEffect = ts.isExpressionStatement(node) && !ts.isStringLiteral(node.expression)
  return isEffect ? ';' : undefined
}

const isName = ({ parent }: ts.Node): boolean =>
  ts.isPropertyAssignment(parent) && ts.isNumericLiteral(parent.name)

/**
 * All small changes of a TypeScript source, in its order: negated conditions, other operators and
 * constants, and removed code (a statement, an `await`, the body of a function).
 */
export const mutationsOf = (source: string): Mutation[] => {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2023, true)
  const mutations: Mutation[] = []

  const add = (start: number, end: number, text: string): void => {
    const line = file.getLineAndCharacterOfPosition(start).line + 1
    const before = source.slice(start, end)
    const inLine = (code: string) => code.replace(/\s+/g, ' ').slice(0, 60)
    mutations.push({ line, start, end, text, change: `${inLine(before)} → ${inLine(text)}` })
  }
  const replace = (node: ts.Node, text: string): void => add(node.getStart(), node.end, text)

  const addFunction = (node: ts.Node): void => {
    const body = ts.isFunctionLike(node) && 'body' in node ? node.body : undefined
    const [first] = body && ts.isBlock(body) ? body.statements : []
    if (body && !ts.isBlock(body)) replace(body, 'undefined')
    if (first) add(first.getStart(), first.getStart(), 'return; ')
  }

  const visit = (node: ts.Node): void => {
    if (hasNoCode(node)) return
    const condition = conditionOf(node)
    if (condition) replace(condition, `!(${condition.getText()})`)
    if (ts.isBinaryExpression(node) && !isText(node.left) && !isText(node.right)) {
      const operator = operators.get(node.operatorToken.kind)
      if (operator) replace(node.operatorToken, operator)
    }
    const text = isName(node) ? undefined : replacementOf(node)
    if (text !== undefined) replace(node, text)
    addFunction(node)
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(file, visit)
  return mutations
}

/** So many mutations of a list, the same for the same seed. */
export const sampleOf = <T>(all: readonly T[], seed: number, count: number): T[] => {
  let state = seed
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const rest = [...all]
  const sample: T[] = []
  while (sample.length < count && rest.length > 0)
    sample.push(...rest.splice(Math.floor(random() * rest.length), 1))
  return sample
}
