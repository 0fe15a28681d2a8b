import type { FindCredential } from '../../queries/find-credential.ts'
import { actingUser, type Call } from '../ports/call.ts'
import { type Redact, redaction } from './redaction.ts'
import { ToolFault } from './results.ts'

export type HeaderValues = Readonly<Record<string, string>>

/** Headers to send, and a function that removes their secret values from other texts. */
export type FilledHeaders = {
  headers: HeaderValues
  redacted: Redact
}

const placeholder = /\{\{\s*credential:([A-Z][A-Z0-9_]{0,63})\s*\}\}/g
/** Headers that HTTP itself sets, or that belong to the connection. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/i
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** The most credentials and characters that the headers of one request hold. */
const mostCredentials = 20
const mostCharacters = 32_768

/** The names that header templates ask for. */
export const credentialsIn = (templates: HeaderValues): string[] => [
  ...new Set(
    Object.values(templates).flatMap((value) =>
      [...value.matchAll(placeholder)].map(([, name = '']) => name),
    ),
  ),
]

/** The length of the headers once filled, without filling them. */
const filledLength = (templates: HeaderValues, values: ReadonlyMap<string, string>): number => {
  let length = 0
  for (const [header, template] of Object.entries(templates)) {
    length += header.length + template.length
    for (const [mark, name = ''] of template.matchAll(placeholder))
      length += (values.get(name)?.length ?? 0) - mark.length
  }
  return length
}

/**
 * Fills `{{credential:NAME}}` in header values with the acting user's own credentials, and with no
 * others. They are for one host, that of the request.
 * @throws ToolFault that names a credential which is missing, or may not be sent to the host
 */
export const credentialHeaders =
  ({ findCredential }: { findCredential: FindCredential }) =>
  async (templates: HeaderValues, host: string, call: Call): Promise<FilledHeaders> => {
    const userId = actingUser(call)
    const values = new Map<string, string>()
    const names = credentialsIn(templates)
    if (names.length > mostCredentials)
      throw new ToolFault(`the headers name more than ${mostCredentials} credentials`)
    for (const name of names) {
      const credential =
        userId === null ? undefined : await findCredential(call.organizationId, userId, name)
      if (!credential)
        throw new ToolFault(`the credential ${name} is missing: the user has not stored it`)
      if (!credential.hosts.includes(host))
        throw new ToolFault(
          `the credential ${name} may not be sent to ${host}: the user has not agreed to it, and has to connect it again`,
        )
      values.set(name, credential.value)
    }
    if (filledLength(templates, values) > mostCharacters)
      throw new ToolFault(`the headers are longer than ${mostCharacters} characters`)
    const entries = Object.entries(templates).map(([header, template]): [string, string] => {
      const value = template.replace(placeholder, (_, name) => values.get(name) ?? '')
      if (!headerName.test(header) || reserved.test(header) || !headerValue.test(value))
        throw new ToolFault(`the header ${header} cannot be sent`)
      return [header, value]
    })
    const secrets = [...values].map(([name, value]) => ({ name, value }))
    return { headers: Object.fromEntries(entries), redacted: redaction(secrets) }
  }
export type CredentialHeaders = ReturnType<typeof credentialHeaders>
