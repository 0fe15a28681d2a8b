import t from 'tap'
import {
  audioPart,
  dataUrl,
  filePart,
  imagePart,
  mp3,
  pdf,
  png,
  textPart,
} from '../../support/media.ts'
import { startChat } from '../../support/server.ts'

const at = '/api/external/v1/responses'
const everything = JSON.stringify({ 'test/*': ['image', 'audio', 'file'] })
const messagesWith = (...content: readonly object[]) => [{ role: 'user', content }]

t.test('images, sounds and files of a message are given to the model, and listed', async (t) => {
  const { provider, key } = await startChat(t, undefined, {}, { LLM_MODALITIES: everything })
  const image = png(10, 20)
  const { body } = await key.ask('POST', at, {
    input: messagesWith(
      { type: 'input_text', text: 'Compare' },
      { type: 'input_image', image_url: dataUrl('image/png', image), detail: 'low' },
      { type: 'input_text', text: 'with' },
      audioPart(mp3(), 'mp3'),
      {
        type: 'input_file',
        filename: 'report.pdf',
        file_data: dataUrl('application/pdf', pdf()),
      },
    ),
  })
  t.equal(body.status, 'completed', JSON.stringify(body))
  const { image_url } = imagePart(image)
  t.strictSame(provider.requests[0]?.body.messages.at(-1)?.content, [
    textPart('Compare'),
    { type: 'image_url', image_url: { ...image_url, detail: 'low' } },
    textPart('with'),
    audioPart(mp3(), 'mp3'),
    filePart(pdf()),
  ])
  const { data } = (await key.ask('GET', `${at}/${body.id}/input_items`)).body
  t.match(data[0].content, [
    { type: 'input_text', text: 'Compare\nwith' },
    { type: 'input_image', image_url: /^http/, detail: 'low' },
    { type: 'input_file', file_url: /^http/ },
    { type: 'input_file', file_url: /^http/, filename: 'report.pdf' },
  ])
  const download = await fetch(data[0].content[1].image_url)
  t.strictSame(Buffer.from(await download.arrayBuffer()), image)
})

t.test('files that cannot be taken are refused', async (t) => {
  const { provider, key } = await startChat(t, undefined, {}, { LLM_MODALITIES: '{}' })
  const image = { type: 'input_image', image_url: dataUrl('image/png', png()) }
  const at0 = 'input.0.content.0'
  const cases: [string, object[], string, string][] = [
    ['the model takes none', messagesWith(image), 'unsupported_content', 'input'],
    [
      'stored elsewhere',
      messagesWith({ type: 'input_image', file_id: 'file-1', image_url: 'https://a.example/' }),
      'unsupported_content',
      `${at0}.file_id`,
    ],
    [
      'behind an address',
      messagesWith({ type: 'input_file', file_url: 'https://a.example/', file_data: 'AAAA' }),
      'unsupported_content',
      `${at0}.file_url`,
    ],
    [
      'no address',
      messagesWith({ type: 'input_image', image_url: 'nonsense' }),
      'invalid_input',
      'input',
    ],
    [
      'in an answer',
      [{ role: 'assistant', content: [image] }],
      'unsupported_content',
      `${at0}.type`,
    ],
    [
      'in an output',
      [{ type: 'function_call_output', call_id: 'a', output: [image] }],
      'unsupported_content',
      'input.0.output.0.type',
    ],
  ]
  for (const [what, input, code, param] of cases)
    t.match(
      await key.ask('POST', at, { input }),
      { status: 400, body: { error: { code, param } } },
      what,
    )
  t.equal(provider.requests.length, 0)
})
