import { utf8 } from './bytes.ts'
import { type Checkpoint, openCheckpoint } from './checkpoint.ts'
import { parseVerifierKey, type VerifierKey } from './note.ts'
import type { Subtle } from './web-crypto.ts'

/** What remembers between visits: `localStorage` is one. */
export type Memory = {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

/** The last checkpoint that was verified, its note, and when. */
export type Remembered = {
  key: VerifierKey
  note: string
  at: string
  checkpoint: Checkpoint
}

export type Recalled =
  | { kind: 'remembered'; remembered: Remembered }
  | { kind: 'none'; reason: 'first_visit' | 'unreadable' | 'no_storage' }

/** The name under which the checkpoint of a log is stored. */
const nameOf = (origin: string) => `reprise.checkpoint.${origin}`

const fieldsOf = (text: string) => {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new TypeError('no object')
  const field = (name: string): string => {
    const part: unknown = Reflect.get(value, name)
    if (typeof part !== 'string') throw new TypeError(`no ${name}`)
    return part
  }
  return { key: field('key'), note: field('note'), at: field('at') }
}

/** The checkpoint that a browser remembers of a log. Storage that throws remembers nothing. */
export const checkpointMemory = (memory: Memory | undefined, origin: string) => {
  const text = (): string | null | undefined => {
    try {
      return memory?.getItem(nameOf(origin))
    } catch {
      return undefined
    }
  }

  return {
    text,
    /** Verifies the signature again, so that damaged storage is not compared with. */
    async parse(subtle: Subtle, text: string | null | undefined): Promise<Recalled> {
      if (text === undefined) return { kind: 'none', reason: 'no_storage' }
      if (text === null) return { kind: 'none', reason: 'first_visit' }
      try {
        const { key: keyText, note, at } = fieldsOf(text)
        if (Number.isNaN(Date.parse(at))) throw new TypeError('no time')
        const key = await parseVerifierKey(subtle, keyText)
        const checkpoint = await openCheckpoint(subtle, utf8(note), { key, origin })
        return { kind: 'remembered', remembered: { key, note, at, checkpoint } }
      } catch {
        return { kind: 'none', reason: 'unreadable' }
      }
    },
    /** False: the browser did not store it. */
    store({ key, note, at }: { key: string; note: string; at: string }): boolean {
      try {
        memory?.setItem(nameOf(origin), JSON.stringify({ key, note, at }))
        return memory !== undefined
      } catch {
        return false
      }
    },
    forget() {
      try {
        memory?.removeItem(nameOf(origin))
      } catch {
        // Storage that throws has nothing to forget.
      }
    },
  }
}

export type CheckpointMemory = ReturnType<typeof checkpointMemory>
