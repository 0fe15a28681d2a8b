import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { decodedFiles, type KeepFile } from '../../../src/http/wire/base64-files.ts'

const mebibyte = 1024 * 1024

/** Keeps the pieces, and how many bytes each has. */
const recorder = () => {
  const lengths: number[] = []
  const keep: KeepFile = async (bytes) => {
    const pieces: Uint8Array[] = []
    for await (const piece of bytes) {
      pieces.push(piece)
      lengths.push(piece.length)
    }
    const content = Buffer.concat(pieces)
    const hash = createHash('sha256').update(content).digest('hex')
    return {
      size: content.length,
      hash,
      async *bytes() {
        yield content
      },
    }
  }
  return { keep, lengths }
}

const decoded = async (content: string, filename = 'a.txt') => {
  const { keep, lengths } = recorder()
  const [file] = await decodedFiles([{ filename, content }], keep)
  const parts: Uint8Array[] = []
  for await (const part of file?.bytes() ?? []) parts.push(part)
  return { bytes: Buffer.concat(parts), lengths }
}

t.test('a file is decoded in pieces of at most 192 KB', async (t) => {
  for (const size of [0, 1, 2, 3, 196_606, 196_607, 196_608, 196_609, 1_000_001]) {
    const bytes = randomBytes(size)
    const base64 = bytes.toString('base64')
    const lines = base64.replace(/.{76}/g, '$&\r\n')
    for (const content of [base64, lines, `${base64}\n`, `\n${base64}`]) {
      const file = await decoded(content)
      t.ok(file.bytes.equals(bytes), `${size} bytes`)
      t.ok(file.lengths.every((length) => length <= 196_611))
    }
  }
})

t.test('invalid base64 is refused, wherever it occurs', async (t) => {
  const long = randomBytes(900_000).toString('base64')
  const at = (place: number, text: string) => long.slice(0, place) + text + long.slice(place + 1)
  for (const content of [
    'A',
    'AA',
    'AAA',
    'A===',
    '====',
    'AA=A',
    'AA==AAAA',
    'A-_A',
    'AA A',
    'é===',
    at(5, '!'),
    at(262_143, '='),
    at(262_144, '='),
    at(700_000, '-'),
    long.slice(1),
  ])
    await t.rejects(decoded(content), { code: 'invalid_base64' }, content.slice(0, 20))
})

t.test('a file of over 10 MB is refused while it is decoded', async (t) => {
  const largest = Buffer.alloc(10 * mebibyte).toString('base64')
  t.equal((await decoded(largest)).bytes.length, 10 * mebibyte)
  await t.rejects(decoded(Buffer.alloc(10 * mebibyte + 1).toString('base64')), {
    code: 'file_too_large',
  })
  const half = { filename: 'a.txt', content: largest.slice(0, 8 * mebibyte) }
  await t.rejects(decodedFiles([half, half], recorder().keep), { code: 'payload_too_large' })
})

t.test('no file is decoded after one of an unsupported type', async (t) => {
  const { keep, lengths } = recorder()
  const files = ['a.exe', 'b.txt'].map((filename) => ({ filename, content: 'AAAA' }))
  await t.rejects(decodedFiles(files, keep), { code: 'unsupported_file_type' })
  t.strictSame(lengths, [])
})
