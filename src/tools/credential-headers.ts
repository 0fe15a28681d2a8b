import type { FindCredential } from '../../queries/find-credential.ts'
import { actingUser, type Call } from '../ports/call.ts'
import { ToolFault } from './results.ts'

export type HeaderValues = Readonly<Record<string, string>>

/** Headers that can be sent, and the means to keep what is secret in them out of everything else. */
export type FilledHeaders = {
  headers: HeaderValues
  /** The text with every value that was filled in replaced by its name. */
  redacted(text: string): string
}

const placeholder = /\{\{\s*credential:([A-Z][A-Z0-9_]{0,63})\s*\}\}/g
/** Set by HTTP itself, or meant for the connection and not for the request. */
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

/** How a value may look in an answer that repeats it. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
]

/**
 * Fills `{{credential:NAME}}` in header values with the acting user's own credentials; there is no
 * other to fall back on. @throws ToolFault, naming what is missing and never a value
 */
export const credentialHeaders =
  (findCredential: FindCredential) =>
  async (templates: HeaderValues, call: Call): Promise<FilledHeaders> => {
    const userId = actingUser(call)
    const values = new Map<string, string>()
    for (const name of credentialsIn(templates)) {
      const value =
        userId === null ? undefined : await findCredential(call.organizationId, userId, name)
      if (value === undefined)
        throw new ToolFault(`the credential ${name} is missing: the user has not stored it`)
      values.set(name, value)
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
