import { z } from 'zod'
import type { Credential, Server, Tool } from './agent-types.ts'

/** How calls are handled; '' stands for the default. */
export type CareDraft = {
  effect: '' | 'read' | 'write'
  on_unknown: '' | 'tell' | 'ask'
  requires_approval: boolean
  approver: '' | 'user' | 'admin'
  approval_ttl: string
}

export type HeaderDraft = { name: string; value: string }

export type CallDraft = CareDraft & {
  name: string
  description: string
  method: Method
  url: string
  headers: readonly HeaderDraft[]
  parameters: string
  idempotency_header: string
}

export type ServerDraft = CareDraft & {
  name: string
  url: string
  headers: readonly HeaderDraft[]
  /** Settings of single tools, as JSON. */
  tools: string
}

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof methods)[number]

const emptyCare: CareDraft = {
  effect: '',
  on_unknown: '',
  requires_approval: false,
  approver: '',
  approval_ttl: '',
}

export const emptyCall: CallDraft = {
  ...emptyCare,
  name: '',
  description: '',
  method: 'GET',
  url: 'https://',
  headers: [],
  parameters: JSON.stringify({ type: 'object', properties: {} }, null, 2),
  idempotency_header: '',
}

export const emptyServer: ServerDraft = {
  ...emptyCare,
  name: '',
  url: 'https://',
  headers: [],
  tools: '',
}

const stored = z.looseObject({
  name: z.string().catch(''),
  description: z.string().catch(''),
  method: z.enum(methods).catch('GET'),
  url: z.string().catch(''),
  headers: z.record(z.string(), z.string()).catch({}),
  parameters: z.unknown().optional(),
  tools: z.unknown().optional(),
  idempotency_header: z.string().catch(''),
  effect: z.enum(['', 'read', 'write']).catch(''),
  on_unknown: z.enum(['', 'tell', 'ask']).catch(''),
  requires_approval: z.boolean().catch(false),
  approver: z.enum(['', 'user', 'admin']).catch(''),
  approval_ttl: z.number().optional().catch(undefined),
})

const json = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2))

const draftIn = (tool: unknown) => {
  const { headers, parameters, tools, approval_ttl, ...fields } = stored.parse(tool)
  return {
    ...fields,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    parameters: json(parameters),
    tools: json(tools),
    approval_ttl: approval_ttl === undefined ? '' : String(approval_ttl),
  }
}

export const callDraftOf = (tool: Tool): CallDraft => draftIn(tool)
export const serverDraftOf = (server: Server): ServerDraft => draftIn(server)

const careOf = (draft: CareDraft) => ({
  ...(draft.effect ? { effect: draft.effect } : {}),
  ...(draft.on_unknown ? { on_unknown: draft.on_unknown } : {}),
  ...(draft.requires_approval ? { requires_approval: true } : {}),
  ...(draft.requires_approval && draft.approver ? { approver: draft.approver } : {}),
  ...(draft.requires_approval && draft.approval_ttl.trim()
    ? { approval_ttl: Number(draft.approval_ttl) }
    : {}),
})

const headersOf = (headers: readonly HeaderDraft[]) =>
  Object.fromEntries(
    headers.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  )

export const callOf = (draft: CallDraft): Tool => ({
  type: 'api_call',
  name: draft.name,
  description: draft.description,
  method: draft.method,
  url: draft.url.trim(),
  headers: headersOf(draft.headers),
  parameters: JSON.parse(draft.parameters),
  ...(draft.idempotency_header.trim()
    ? { idempotency_header: draft.idempotency_header.trim() }
    : {}),
  ...careOf(draft),
})

export const serverOf = (draft: ServerDraft) => ({
  name: draft.name,
  url: draft.url.trim(),
  headers: headersOf(draft.headers),
  ...(draft.tools.trim() ? { tools: JSON.parse(draft.tools) } : {}),
  ...careOf(draft),
})

const longestApproval = 2_592_000

const isObject = (text: string): boolean => {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, _ and -')
const address = z
  .string()
  .trim()
  .max(2_000, 'At most 2,000 characters')
  .refine((text) => /^https?:\/\/[^/?#]/.test(text), 'An address that begins with https://')
const ttl = z.string().refine((text) => {
  const value = Number(text)
  const isWhole = /^\d+$/.test(text.trim()) && value >= 1 && value <= longestApproval
  return text.trim() === '' || isWhole
}, 'Seconds from 1 to 2,592,000, or nothing')
const headers = z
  .array(z.object({ name: z.string(), value: z.string().max(4_000) }))
  .refine(
    (all) => all.every(({ value }) => value.length <= 4_000),
    'A value has at most 4,000 characters',
  )
  .refine((all) => {
    const names = all.map((header) => header.name.trim().toLowerCase()).filter(Boolean)
    return new Set(names).size === names.length
  }, 'Each header once')

const callFields = z.object({
  name,
  description: z.string().max(2_000, 'At most 2,000 characters'),
  url: address,
  headers,
  parameters: z.string().refine(isObject, 'A JSON Schema, as a JSON object'),
  idempotency_header: z.string().max(100, 'At most 100 characters'),
  approval_ttl: ttl,
})

const serverFields = z.object({
  name,
  url: address,
  headers,
  tools: z
    .string()
    .refine((text) => text.trim() === '' || isObject(text), 'A JSON object, or nothing'),
  approval_ttl: ttl,
})

export type CredentialDraft = Required<{ [Field in keyof Credential]: string }>

export const credentialDraftOf = (credential: Credential | undefined): CredentialDraft => {
  const { name = '', label = '', description = '', help_url = '' } = credential ?? {}
  return { name, label, description, help_url }
}

export const credentialOf = (draft: CredentialDraft): Credential => {
  const label = draft.label.trim()
  const description = draft.description.trim()
  const help_url = draft.help_url.trim()
  return {
    name: draft.name,
    ...(label && { label }),
    ...(description && { description }),
    ...(help_url && { help_url }),
  }
}

const isHelpUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return protocol === 'https:' && username === '' && password === ''
}

const credentialFields = z.object({
  name: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'Capitals, digits and _, beginning with a letter, at most 64'),
  label: z.string().trim().max(100, 'At most 100 characters'),
  description: z.string().trim().max(500, 'At most 500 characters'),
  help_url: z
    .string()
    .trim()
    .max(2_000, 'At most 2,000 characters')
    .refine((text) => text === '' || isHelpUrl(text), 'An address that begins with https://'),
})

const faultsIn = (error: z.ZodError | undefined): Record<string, string> => {
  const faults: Record<string, string> = {}
  for (const { path, message } of error?.issues ?? []) faults[String(path[0])] ??= message
  return faults
}

const withNameFault = (
  faults: Record<string, string>,
  tool: string,
  otherNames: readonly string[],
) =>
  !faults.name && otherNames.includes(tool)
    ? { ...faults, name: 'Another one has this name' }
    : faults

/** What is wrong with each field of a call, also that another tool has its name. */
export const callFaultsOf = (draft: CallDraft, otherNames: readonly string[]) =>
  withNameFault(faultsIn(callFields.safeParse(draft).error), draft.name, otherNames)

export const serverFaultsOf = (draft: ServerDraft, otherNames: readonly string[]) =>
  withNameFault(faultsIn(serverFields.safeParse(draft).error), draft.name, otherNames)

export const credentialFaultsOf = (draft: CredentialDraft, otherNames: readonly string[]) =>
  withNameFault(faultsIn(credentialFields.safeParse(draft).error), draft.name, otherNames)
