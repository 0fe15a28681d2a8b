import { hasFixedHost } from '../domain/agent/credential-hosts.ts'
import { ToolFault } from './results.ts'

type Args = Readonly<Record<string, unknown>>

const placeholder = /\{([A-Za-z_][\w-]*)\}/g

/** The longest address that is sent, in characters. */
const longestAddress = 65_536

const marks = /zz(\d+)zz/g
const markOf = (n: number): string => `zz${n}zz`

const encoded = (name: string, value: unknown): string => {
  if (!['string', 'number', 'boolean'].includes(typeof value))
    throw new ToolFault(`the parameter ${name} must be a string, a number or a boolean`)
  return encodeURIComponent(String(value)).replaceAll("'", '%27')
}

const tooLong = () => new ToolFault(`the address would be longer than ${longestAddress} characters`)

/**
 * The address with every `{name}` filled in, and the remaining arguments. A value stays within its
 * path segment: one that would change the path (`..`) is refused.
 * @throws ToolFault
 */
export const urlFrom = (template: string, args: Args): { url: URL; rest: Args } => {
  const unusable = new ToolFault('the address of this tool is not usable')
  if (!hasFixedHost(template)) throw unusable
  const names: string[] = []
  const marked = template.replace(placeholder, (_, name) => markOf(names.push(name) - 1))
  if (!URL.canParse(marked)) throw unusable
  const base = new URL(marked)
  const values = names.map((name, n) => {
    const value = encoded(name, Object.hasOwn(args, name) ? args[name] : undefined)
    if (value === '' && base.pathname.includes(markOf(n)))
      throw new ToolFault(`the parameter ${name} must not be empty`)
    return value
  })
  if (values.reduce((sum, { length }) => sum + length, base.href.length) > longestAddress)
    throw tooLong()
  const filled = base.href.replace(marks, (mark, n) => values[n] ?? mark)
  const url = new URL(filled)
  if (url.href !== filled || url.host !== base.host)
    throw new ToolFault('a value does not fit into the address')
  const rest = Object.entries(args).filter(([name]) => !names.includes(name))
  return { url, rest: Object.fromEntries(rest) }
}

/** Adds arguments to the query; values other than scalars as JSON. @throws ToolFault */
export const withQuery = (url: URL, args: Args): URL => {
  const extended = new URL(url)
  if (Object.keys(args).length === 0) return extended
  const query = new URLSearchParams(url.search)
  let length = url.href.length
  for (const [name, value] of Object.entries(args)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    length += name.length + text.length
    if (length > longestAddress) throw tooLong()
    query.append(name, text)
  }
  extended.search = query.toString()
  return extended
}
