import { type AgentConfiguration, isApiCall } from './events.ts'

const placeholder = /\{\{\s*credential:([A-Z][A-Z0-9_]{0,63})\s*\}\}/g

/** The credentials that a header value names, as `{{credential:NAME}}`. */
export const credentialNamesIn = (value: string): string[] =>
  [...value.matchAll(placeholder)].map(([, name = '']) => name)

/** Whether a header value has something that looks like a credential's name and is not. */
export const hasStrayCredential = (value: string): boolean =>
  /\{\{\s*credential/i.test(value.replace(placeholder, ''))

type Headers = Pick<AgentConfiguration, 'tools' | 'mcpServers'>

/** The credentials that an agent's own tools and servers send in their headers, each once. */
export const credentialsNamed = ({ tools, mcpServers }: Headers): string[] => {
  const calls = tools.flatMap((tool) => (isApiCall(tool) ? tool : []))
  const values = [...calls, ...mcpServers].flatMap(({ headers }) => Object.values(headers))
  return [...new Set(values.flatMap(credentialNamesIn))]
}
