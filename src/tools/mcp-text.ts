import { type Fields, hasFields } from '../support/fields.ts'

const resourceText = ({ text, mimeType, uri }: Fields): string =>
  typeof text === 'string' ? text : `[${mimeType ?? 'a file'}: ${uri}]`

/**
 * The text of a part of a result, as the server sent it; other parts are named. Undefined if it
 * is neither text nor an object.
 */
export const partText = (part: unknown): string | undefined => {
  if (typeof part === 'string') return part
  if (!hasFields(part)) return undefined
  const { type, text, resource, name, uri, mimeType } = part
  if (typeof text === 'string') return text
  if (type === 'text') return JSON.stringify(text ?? '')
  if (type === 'image' || type === 'audio') return `[${mimeType ?? type}, which is no text]`
  if (type === 'resource_link') return typeof name === 'string' ? `[${name}: ${uri}]` : `[${uri}]`
  return type === 'resource' && hasFields(resource) ? resourceText(resource) : JSON.stringify(part)
}
