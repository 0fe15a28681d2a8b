import { z } from 'zod'

const line = z.looseObject({
  level: z.number(),
  time: z.number(),
  msg: z.string().default(''),
  err: z.looseObject({ stack: z.string() }).optional(),
})
const request = z.looseObject({
  method: z.string(),
  route: z.string(),
  status: z.number(),
  ms: z.number(),
})

const dim = '\u001b[2m'
const red = '\u001b[31m'
const yellow = '\u001b[33m'
const plain = '\u001b[0m'
/** Of warnings, and of all that is worse. */
const [warning, error] = [40, 50]

/** What a client sent must not steer the terminal. */
const harmless = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) =>
    character === '\n' || character === '\t' ? character : '?',
  )

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

const fieldsOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(' ')

/** What happened, and its fields. */
const summaryOf = (msg: string, fields: object): [string, string] => {
  const { data } = msg === 'request' ? request.safeParse(fields) : { data: undefined }
  if (!data) return [msg, fieldsOf(fields)]
  const { method, route, status, ms, reqId: _, ...others } = data
  return [`${method} ${route} ${status} ${Math.round(ms)} ms`, fieldsOf(others)]
}

/**
 * A line of the log (pino's JSON) for people: the time of day, the message, its fields. Warnings
 * and errors have a colour. Other texts stay as they are.
 */
export const readableLog = (text: string): string => {
  const { data } = line.safeParse(parsed(text))
  if (!data) return text
  const { level, time, msg, err, ...fields } = data
  const [what, more] = summaryOf(msg, fields).map(harmless)
  const colour = level >= error ? red : level >= warning ? yellow : ''
  const stack = err ? `\n${harmless(err.stack)}` : ''
  const at = new Date(time).toTimeString().slice(0, 8)
  return `${dim}${at}${plain} ${colour}${what}${stack}${plain}${more ? ` ${dim}${more}${plain}` : ''}\n`
}
