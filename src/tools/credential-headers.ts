import type { FindCredential } from '../../queries/find-credential.ts'
import { actingUser, type Call } from '../ports/call.ts'
import { ToolFault } from './results.ts'

export type HeaderValues = Readonly<Record<string, string>>

/** Headers to send, and a function that removes their secret values from other texts. */
export type FilledHeaders = {
  headers: HeaderValues
  /** The text, with each filled-in value replaced by its name. */
  redacted(text: string): string
}

const placeholder = /\{\{\s*credential:([A-Z][A-Z0-9_]{0,63})\s*\}\}/g
/** Headers that HTTP itself sets, or that belong to the connection. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/i
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** The names that header templates ask for. */
export const credentialsIn = (templates: HeaderValues): string[] => [
  ...new Set(
    Object.values(templates).flatMap((value) =>
      [...value.matchAll(placeholder)].map(([, name = '']) => name),
    ),
  ),
]

/** The forms in which an answer may repeat a value. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
]

/**
 * Fills `{{credential:NAME}}` in header values with the acting user's own credentials, and with no
 * others. They are for one host, that of the request.
 * @throws ToolFault that names a credential which is missing, or may not be sent to the host
 */
export const credentialHeaders =
  (findCredential: FindCredential) =>
  async (templates: HeaderValues, host: string, call: Call): Promise<FilledHeaders> => {
    const userId = actingUser(call)
    const values = new Map<string, string>()
    for (const name of credentialsIn(templates)) {
      const found =
        userId === null ? undefined : await findCredential(call.organizationId, userId, name)
      if (!found)
        throw new ToolFault(`the credential ${name} is missing: the user has not stored it`)
      if (!found.hosts.includes(host))
        throw new ToolFault(
          `the credential ${name} may not be sent to ${host}: the user has not agreed to it, and has to connect it again`,
        )
      values.set(name, found.value)
    }
    const entries = Object.entries(templates).map(([header, template]): [string, string] => {
      const value = template.replace(placeholder, (_, name) => values.get(name) ?? '')
      if (!headerName.test(header) || reserved.test(header) || !headerValue.test(value))
        throw new ToolFault(`the header ${header} cannot be sent`)
      return [header, value]
    })
    const forms = [...values]
      .flatMap(([name, value]) => formsOf(value).map((form) => ({ name, form })))
      .sort((left, right) => right.form.length - left.form.length)
    return {
      headers: Object.fromEntries(entries),
      redacted: (text) =>
        forms.reduce((clean, { name, form }) => clean.replaceAll(form, `[${name}]`), text),
    }
  }
export type CredentialHeaders = ReturnType<typeof credentialHeaders>
