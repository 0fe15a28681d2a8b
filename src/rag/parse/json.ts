import { endOfString } from '../../support/json-text.ts'
import { type Block, deepest, Unreadable } from '../block.ts'
import { decodedText } from '../decode-text.ts'

/** The largest JSON document: parsing takes many times its size. JSON Lines have no such limit. */
const largest = 8 * 1024 * 1024
const identifier = /^[A-Za-z_$][\w$]*$/

const step = (key: string | number): string =>
  typeof key === 'string' && identifier.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`

const quote = 0x22
const minus = 0x2d
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/y

/** So many parts are joined at once: of millions, a list alone takes more memory than the text. */
const partsAtOnce = 4_096

/** JSON with its numbers as strings: as they are written, whatever size and precision they have. */
const quotingNumbers = (json: string): string => {
  let text = ''
  let parts: string[] = []
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at)
    else if (code === minus || isDigit(code)) {
      number.lastIndex = at
      const [source] = number.exec(json) ?? []
      if (source === undefined) continue
      parts.push(json.slice(from, at), source)
      from = at + source.length
      at = from - 1
      if (parts.length < partsAtOnce) continue
      text += `${parts.join('"')}"`
      parts = []
    }
  }
  parts.push(json.slice(from))
  return text + parts.join('"')
}

/** One line for each value: its path, then the value. */
const lines = (value: unknown, path: string, depth = 0): string[] => {
  if (depth > deepest) throw new Unreadable(`The JSON is nested deeper than ${deepest} levels`)
  if (typeof value !== 'object' || value === null) return [path ? `${path}: ${value}` : `${value}`]
  const named = Array.isArray(value)
    ? value.map((item) => [path, item] as const)
    : Object.entries(value).map(([key, field]) => [path ? `${path} ${key}` : key, field] as const)
  return named.flatMap(([path, item]) => lines(item, path, depth + 1))
}

const parsed = (text: string, where: string): unknown => {
  try {
    return JSON.parse(quotingNumbers(text))
  } catch {
    throw new Unreadable(`The file is not valid JSON${where}`)
  }
}

/**
 * One block for each record of the outermost array, or each member of the outermost object.
 * @throws Unreadable
 */
export const parseJsonDocument = (bytes: Uint8Array): Block[] => {
  if (bytes.length > largest)
    throw new Unreadable('A JSON document is read up to 8 MB: split it, or upload it as .jsonl')
  const value = parsed(decodedText(bytes).replace(/^\uFEFF/, ''), '')
  if (typeof value !== 'object' || value === null)
    return [{ text: lines(value, '').join('\n'), place: '$' }]
  if (Array.isArray(value))
    return value.map((item, n) => ({
      text: lines(item, '').join('\n'),
      place: `$${step(n)}`,
      part: n,
    }))
  return Object.entries(value).map(([key, field]) => ({
    text: lines(field, key).join('\n'),
    place: `$${step(key)}`,
  }))
}

/** One block for each line. @throws Unreadable */
export const parseJsonLines = (bytes: Uint8Array): Block[] =>
  decodedText(bytes)
    .split('\n')
    .flatMap((line, n) => {
      if (line.trim() === '') return []
      const value = parsed(line, ` in line ${n + 1}`)
      return [{ text: lines(value, '').join('\n'), place: `line ${n + 1}`, part: n }]
    })
