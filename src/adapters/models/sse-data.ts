import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { ModelFault } from '../../ports/model.ts'
import { jsonEnd } from '../../support/json-end.ts'

const maxEvent = 1_048_576
const maxJson = 4_194_304

/** `data: [DONE]` as the last line, also before its line break has come. */
const endLine = /[\r\n]data: ?\[DONE\][\r\n ]*$/
const endLength = 64

/** Takes the data of an event, and its type where it has one. */
type Take = (data: string, type?: string) => void

/** The lines of an event: those of one JSON value together, all others one by one. */
const eachValue = (data: string, take: (data: string) => void): void => {
  let value = ''
  let end = jsonEnd()
  for (const line of data.split('\n')) {
    const length = end(`${line}\n`)
    value += value === '' ? line : `\n${line}`
    if (length === -1 && end.isOpen()) continue
    take(value.trim())
    value = ''
    end = jsonEnd()
  }
  if (value !== '') take(value.trim())
}

const eventData = (take: Take) => {
  const parser = createParser({
    maxBufferSize: maxEvent,
    onEvent({ data, event }) {
      if (data.includes('\n')) eachValue(data, (value) => take(value, event))
      else take(data.trim(), event)
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded')
        throw new ModelFault('the model provider sent an endless event')
    },
  })
  let recent = '\n'
  const end = () => parser.feed('\n\n')
  return {
    feed(text: string): void {
      parser.feed(text)
      recent = text.length < endLength ? (recent + text).slice(-endLength) : text.slice(-endLength)
      if (endLine.test(recent)) end()
    },
    end,
  }
}

/** JSON values in sequence. Text behind them is ignored. */
const jsonValues = (take: Take) => {
  let value = ''
  let end = jsonEnd()
  return {
    feed(text: string): void {
      let rest = text
      while (rest !== '') {
        const length = end(rest)
        value += length === -1 ? rest : rest.slice(0, length)
        if (value.length > maxJson)
          throw new ModelFault('the model provider sent an endless answer')
        if (length === -1) return
        take(value.trim())
        value = ''
        end = jsonEnd()
        rest = rest.slice(length)
      }
    },
    end(): void {
      if (end.isOpen()) take(value)
    },
  }
}

/**
 * Parses the body of an event stream, chunk by chunk, and gives the data of every event. Some
 * providers leave out the blank line between events, or after the end mark, which is given as soon
 * as it has come. `end` gives an event that no blank line has ended. Of a body that is JSON, its
 * values are given.
 * @throws ModelFault for an event of over 1 Mi characters, or JSON of over 4 Mi
 */
export const sseData = (take: Take) => {
  const decoder = new StringDecoder('utf8')
  let body: ReturnType<typeof eventData> | undefined
  let isJson = false

  /** The first character that is no blank and no byte order mark tells what a body is. */
  const start = (text: string): string => {
    const rest = text.replace(/^[\ufeff\s]+/, '')
    if (rest === '') return ''
    isJson = rest.startsWith('{') || rest.startsWith('[')
    body = isJson ? jsonValues(take) : eventData(take)
    return rest
  }

  return {
    feed(chunk: Buffer): void {
      const decoded = decoder.write(chunk)
      const text = body ? decoded : start(decoded)
      if (text !== '') body?.feed(text)
    },
    end: () => body?.end(),
    isJson: () => isJson,
  }
}
