import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

const textOf = (block: ContentBlock): string => {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return `[${block.name}: ${block.uri}]`
  if (block.type === 'resource')
    return 'text' in block.resource
      ? block.resource.text
      : `[${block.resource.mimeType ?? 'a file'}: ${block.resource.uri}]`
  return `[${block.mimeType}, which is no text]`
}

/**
 * The text of a result; other parts are named. A result without any text gives its structured
 * content.
 */
export const resultText = ({ content, structuredContent }: CallToolResult): string => {
  if (content.length === 0 && structuredContent !== undefined)
    return JSON.stringify(structuredContent)
  return content.map(textOf).join('\n')
}
