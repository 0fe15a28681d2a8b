import { StringDecoder } from 'node:string_decoder'
import { ModelFault } from '../../ports/model.ts'

const maxLine = 1_048_576

/**
 * Takes the body of an event stream chunk by chunk and gives the value of every `data:` line;
 * characters split between chunks are put together, comments and other fields are skipped.
 * @throws ModelFault when a line is over 1 Mi characters
 */
export const sseData = (take: (data: string) => void) => {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return (chunk: Buffer): void => {
    rest += decoder.write(chunk)
    let start = 0
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', start)) {
      if (rest.startsWith('data:', start)) take(rest.slice(start + 5, end).trim())
      start = end + 1
    }
    rest = rest.slice(start)
    if (rest.length > maxLine) throw new ModelFault('the model provider sent an endless line')
  }
}
