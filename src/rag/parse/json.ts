import { type Block, deepest, Unreadable } from '../block.ts'
import { decodedText } from '../decode-text.ts'

/** The largest JSON document: parsing takes many times its size. JSON Lines have no such limit. */
const largest = 8 * 1024 * 1024
const identifier = /^[A-Za-z_$][\w$]*$/

const step = (key: string | number): string =>
  typeof key === 'string' && identifier.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`

/** One line for each value: its path, then the value. */
const lines = (value: unknown, path: string, depth = 0): string[] => {
  if (depth > deepest) throw new Unreadable(`The JSON is nested deeper than ${deepest} levels`)
  if (typeof value !== 'object' || value === null) return [path ? `${path}: ${value}` : `${value}`]
  const named = Array.isArray(value)
    ? value.map((one) => [path, one] as const)
    : Object.entries(value).map(([key, one]) => [path ? `${path} ${key}` : key, one] as const)
  return named.flatMap(([path, one]) => lines(one, path, depth + 1))
}

const parsed = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text)
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
    return value.map((one, n) => ({
      text: lines(one, '').join('\n'),
      place: `$${step(n)}`,
      part: n,
    }))
  return Object.entries(value).map(([key, one]) => ({
    text: lines(one, key).join('\n'),
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
