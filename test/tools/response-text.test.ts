import t from 'tap'
import { redaction } from '../../src/tools/redaction.ts'
import { textOf } from '../../src/tools/response-text.ts'

const redacted = redaction([])
const most = 8

/** An answer in parts of these lengths, and the number of parts that were read of it. */
const answer = (type: string | undefined, ...lengths: number[]) => {
  let parts = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const length = lengths[parts]
        if (length === undefined) return controller.close()
        parts++
        controller.enqueue(Buffer.alloc(length, 'x'))
      },
    },
    { highWaterMark: 0 },
  )
  const headers = type === undefined ? {} : { 'content-type': type }
  return { response: new Response(body, { headers }), parts: () => parts }
}

const cut = '\n[cut: the answer is larger than 8 bytes]'

for (const [lengths, text, read] of [
  [[7], 'x'.repeat(7), 1],
  [[8], 'x'.repeat(8), 1],
  [[4, 4], 'x'.repeat(8), 2],
  [[9], `${'x'.repeat(8)}${cut}`, 1],
  [[4, 5, 6], `${'x'.repeat(8)}${cut}`, 2],
  [[8, 1, 6], `${'x'.repeat(8)}${cut}`, 2],
] as const)
  t.test(`of ${lengths.join(' and ')} bytes, at most 8 are read, in ${read} parts`, async (t) => {
    const { response, parts } = answer('text/plain', ...lengths)
    const body = await textOf(response, most)
    t.equal(
      body.text,
      'x'.repeat(
        Math.min(
          8,
          lengths.reduce<number>((a, b) => a + b, 0),
        ),
      ),
    )
    t.equal(body.shown(redacted), text)
    t.equal(parts(), read)
  })

for (const [length, words] of [
  [8, '[8 bytes of image/png, which is no text]'],
  [9, '[more than 8 bytes of image/png, which is no text]'],
] as const)
  t.test(`of a picture of ${length} bytes the type and size are shown`, async (t) => {
    const body = await textOf(answer('image/png; q=1', length).response, most)
    t.equal(body.text, '')
    t.equal(body.shown(redacted), words)
  })

for (const type of [
  undefined,
  'text/html',
  'application/json; charset=utf-8',
  'application/problem+json',
  'application/xml',
])
  t.test(`an answer of type ${type} is text`, async (t) => {
    t.equal((await textOf(answer(type, 2).response, most)).text, 'xx')
  })

for (const type of ['application/jsonish', 'application/octet-stream', 'audio/wav'])
  t.test(`an answer of type ${type} is no text`, async (t) => {
    t.equal((await textOf(answer(type, 2).response, most)).text, '')
  })

t.test('a text is decoded as its type says, or as UTF-8 where it says nonsense', async (t) => {
  const decode = async (charset: string, bytes: Buffer) => {
    const headers = { 'content-type': `text/plain; charset="${charset}"` }
    return (await textOf(new Response(bytes, { headers }), most)).text
  }
  t.equal(await decode('iso-8859-1', Buffer.from('caf\xe9', 'latin1')), 'café')
  t.equal(await decode('nonsense', Buffer.from('café')), 'café')
})

t.test('an answer without a body is an empty text', async (t) => {
  const body = await textOf(new Response(null), most)
  t.equal(body.text, '')
  t.equal(body.shown(redacted), '')
})
