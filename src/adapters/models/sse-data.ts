import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { ModelFault } from '../../ports/model.ts'

const maxEvent = 1_048_576

/** `data: [DONE]` as the last line, also before its line break has come. */
const endLine = /[\r\n]data: ?\[DONE\][\r\n ]*$/
const endLength = 64

/**
 * Parses the body of an event stream, chunk by chunk, and gives the data of every event, line by
 * line: some providers leave out the blank line between events, or after the end mark, which is given
 * as soon as it has come. `end` gives an event that no blank line has ended.
 * @throws ModelFault for an event of over 1 Mi characters
 */
export const sseData = (take: (data: string) => void) => {
  const decoder = new StringDecoder('utf8')
  const parser = createParser({
    maxBufferSize: maxEvent,
    onEvent({ data }) {
      if (data.includes('\n')) for (const line of data.split('\n')) take(line.trim())
      else take(data.trim())
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded')
        throw new ModelFault('the model provider sent an endless event')
    },
  })
  let recent = '\n'
  const end = () => parser.feed('\n\n')
  return {
    feed(chunk: Buffer): void {
      const text = decoder.write(chunk)
      parser.feed(text)
      recent = text.length < endLength ? (recent + text).slice(-endLength) : text.slice(-endLength)
      if (endLine.test(recent)) end()
    },
    end,
  }
}
