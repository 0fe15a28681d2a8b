import type { ContentKind } from '../../ports/model.ts'

/** Kinds of content that models take beside text, by `provider/model` or `provider/*`. */
export type Modalities = Readonly<Record<string, readonly ContentKind[]>>

export const modalities: Modalities = {
  'offline/*': ['image', 'audio', 'file'],
  'openai/gpt-4o': ['image', 'file'],
  'openai/gpt-4o-mini': ['image', 'file'],
  'openai/gpt-4.1': ['image', 'file'],
  'openai/gpt-4.1-mini': ['image', 'file'],
  'openai/gpt-5': ['image', 'file'],
  'openai/gpt-5-mini': ['image', 'file'],
}

/** A model in no table takes text alone. */
export const kindsOf = (table: Modalities, name: string): ReadonlySet<ContentKind> =>
  new Set(table[name] ?? table[`${name.split('/', 1)[0]}/*`] ?? [])
