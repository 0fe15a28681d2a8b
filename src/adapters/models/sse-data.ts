import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { ModelFault } from '../../ports/model.ts'

const maxEvent = 1_048_576

/**
 * Parses the body of an event stream, chunk by chunk, and gives the data of every event, line by
 * line: some providers leave out the blank line between events. `end` gives an event that no blank
 * line has ended.
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
  return {
    feed: (chunk: Buffer): void => parser.feed(decoder.write(chunk)),
    end: (): void => parser.feed('\n\n'),
  }
}
