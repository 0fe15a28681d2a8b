import type { Redact } from './redaction.ts'

/** The first bytes of a body, and whether there are more; those are not fetched. */
const firstOf = async (response: Response, most: number) => {
  const parts: Uint8Array[] = []
  let size = 0
  if (response.body)
    for await (const part of response.body) {
      parts.push(part)
      size += part.length
      if (size > most) break
    }
  return { bytes: Buffer.concat(parts).subarray(0, most), cut: size > most }
}

const textual =
  /^(?:text\/|application\/(?:json|xml|javascript|yaml|x-yaml|x-ndjson|x-www-form-urlencoded|graphql)\b|[^;]+\+(?:json|xml|yaml)\b)/i
const charset = /;\s*charset="?([\w.:-]+)/i

const decoded = (bytes: Uint8Array, type: string): string => {
  try {
    return new TextDecoder(charset.exec(type)?.[1]).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

/** The part of the answer that was read. */
export type Body = { text: string; shown(redacted: Redact, longest?: number): string }

/** Reads at most so many bytes of an answer. If it is not text, the result is its type and size. */
export const textOf = async (response: Response, most: number): Promise<Body> => {
  const { bytes, cut } = await firstOf(response, most)
  const type = response.headers.get('content-type') ?? ''
  if (type !== '' && !textual.test(type)) {
    const [plain] = type.split(';')
    const text = `[${cut ? 'more than ' : ''}${bytes.length} bytes of ${plain}, which is no text]`
    return { text: '', shown: (redacted, longest) => redacted(text, longest) }
  }
  const text = decoded(bytes, type)
  const note = cut ? `\n[cut: the answer is larger than ${most} bytes]` : ''
  return { text, shown: (redacted, longest) => redacted(text, longest) + note }
}
