import { type ApiCall, asCurl } from './as-curl.ts'

/** A call whose answer is an event stream. */
export type StreamCall = ApiCall & { isStream?: boolean }

const indent = (text: string, spaces: number): string =>
  text.replaceAll('\n', `\n${' '.repeat(spaces)}`)

/** A JSON value as a literal of Python. */
export const pythonOf = (value: unknown, level = 0): string => {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const pad = '    '.repeat(level + 1)
  const end = '    '.repeat(level)
  const entries = Array.isArray(value)
    ? value.map((item) => pythonOf(item, level + 1))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item, level + 1)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return `${open}${close}`
  return `${open}\n${entries.map((entry) => `${pad}${entry},\n`).join('')}${end}${close}`
}

const asPython = ({ method = 'GET', url, body, isStream }: StreamCall, origin: string): string =>
  [
    'import os',
    'import requests',
    '',
    `reply = requests.${method.toLowerCase()}(`,
    `    ${JSON.stringify(new URL(url, origin).href)},`,
    '    headers={"X-API-Key": os.environ["REPRISE_API_KEY"]},',
    ...(body === undefined ? [] : [`    json=${pythonOf(body, 1)},`]),
    ...(isStream ? ['    stream=True,'] : []),
    ')',
    'reply.raise_for_status()',
    ...(isStream
      ? [
          'for line in reply.iter_lines(decode_unicode=True):',
          '    if line.startswith("data: {"):',
          '        print(line.removeprefix("data: "))',
        ]
      : ['print(reply.json())']),
  ].join('\n')

const asTypeScript = (
  { method = 'GET', url, body, isStream }: StreamCall,
  origin: string,
): string =>
  [
    `const reply = await fetch(${JSON.stringify(new URL(url, origin).href)}, {`,
    `  method: ${JSON.stringify(method)},`,
    '  headers: {',
    "    'X-API-Key': process.env.REPRISE_API_KEY!,",
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
    '  },',
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2), 2)}),`]),
    '})',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code of the example
    'if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`)',
    ...(isStream
      ? [
          "let rest = ''",
          'for await (const text of reply.body!.pipeThrough(new TextDecoderStream())) {',
          "  const lines = (rest + text).split('\\n')",
          "  rest = lines.pop() ?? ''",
          '  for (const line of lines)',
          "    if (line.startsWith('data: {')) console.log(JSON.parse(line.slice(6)))",
          '}',
        ]
      : ['console.log(await reply.json())']),
  ].join('\n')

export const languages = ['curl', 'python', 'typescript'] as const
export type Language = (typeof languages)[number]

/** The code that makes a call in a language, with the key in the environment. */
export const asCode = (language: Language, call: StreamCall, origin: string): string => {
  if (language === 'python') return asPython(call, origin)
  if (language === 'typescript') return asTypeScript(call, origin)
  const line = asCurl(call, origin)
  return call.isStream ? line.replace('curl ', 'curl -N ') : line
}
