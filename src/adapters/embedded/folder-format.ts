import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreDamaged, StoreFormat } from '../../ports/event-store.ts'
import { writeDurably } from './data-file.ts'

const name = 'format'

/** Whether a folder notes its format, which is then this one. @throws StoreFormat, StoreDamaged */
export const isInFormat = (path: string, format: number): boolean => {
  const file = join(path, name)
  if (!existsSync(file)) return false
  const text = readFileSync(file, 'utf8').trim()
  if (!/^\d{1,9}$/.test(text)) throw new StoreDamaged(`${file} names no format`)
  if (Number(text) !== format) throw new StoreFormat(path, Number(text), format)
  return true
}

/** Notes the format of a folder, on disk. */
export const noteFormat = (path: string, format: number): void =>
  writeDurably(path, name, `${format}`)
