import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { packed, unpacked } from '../../src/security/packing.ts'

const mark = 0xff

for (const [title, text, form] of [
  ['of few characters stays a text', 'x'.repeat(21_845), 'text'],
  ['of 65,535 bytes stays as it is', 'x'.repeat(65_535), 'bytes'],
  ['of 65,536 bytes is deflated', 'x'.repeat(65_536), 'deflated'],
  ['of 65,536 bytes in fewer characters is deflated', '日'.repeat(21_846), 'deflated'],
] as const)
  t.test(`a text ${title}, and is unpacked whole`, async (t) => {
    const result = packed(text)
    const bytes = Buffer.from(result)
    t.equal(typeof result === 'string', form === 'text')
    t.equal(bytes[0] === mark, form === 'deflated')
    t.equal(bytes.length < Buffer.byteLength(text), form === 'deflated')
    t.equal(unpacked(bytes), text)
  })

t.test('refuses text that unpacks to more than 64 MB', async (t) => {
  const of = (size: number) => Buffer.concat([Buffer.of(mark), deflateRawSync(Buffer.alloc(size))])
  const most = 64 * 1024 * 1024
  t.equal(unpacked(of(most)).length, most)
  t.throws(() => unpacked(of(most + 1)), { code: 'ERR_BUFFER_TOO_LARGE' })
})
