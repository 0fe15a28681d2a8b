import t from 'tap'
import { user } from '../../support/client.ts'
import {
  audioPart,
  dataUrl,
  filePart,
  imagePart,
  jpeg,
  mp3,
  pdf,
  png,
  textPart,
  wav,
} from '../../support/media.ts'
import { startApp, startChat } from '../../support/server.ts'

const messagesWith = (...content: readonly object[]) => [{ role: 'user', content }]
const everything = JSON.stringify({ 'test/*': ['image', 'audio', 'file'] })

t.test('the offline model tells what it was given', async (t) => {
  const server = await startApp(t)
  const key = await (await server.platform.organization()).key()
  const ask = async (...content: readonly object[]) => {
    const { status, body } = await key.chat({ messages: messagesWith(...content) })
    t.equal(status, 200, JSON.stringify(body))
    return body.choices[0].message.content
  }
  t.equal(
    await ask(textPart('What is this?'), imagePart(png(640, 480))),
    'I was given an image: PNG, 640 × 480 pixels, 33 bytes. I understood your message: “What is this?”.',
  )
  t.equal(
    await ask(imagePart(jpeg(1_024, 768), 'image/jpg')),
    'I was given an image: JPEG, 1024 × 768 pixels, 119 bytes.',
  )
  t.equal(await ask(audioPart(wav(2_000))), 'I was given a sound: WAV, 2000 bytes.')
  t.equal(await ask(audioPart(mp3(), 'mp3')), 'I was given a sound: MP3, 64 bytes.')
  t.equal(
    await ask(filePart(pdf(99), '../Q3 report.pdf')),
    'I was given a file “Q3 report.pdf”: application/pdf, 99 bytes.',
  )
})

t.test('a provider is given the files in their places, and again in later turns', async (t) => {
  const { provider, key } = await startChat(t, undefined, {}, { LLM_MODALITIES: everything })
  const image = png(10, 20, 200_000)
  const content = [
    textPart('Compare'),
    { type: 'image_url', image_url: { url: dataUrl('image/png', image), detail: 'low' } },
    textPart('with'),
    imagePart(jpeg(3, 4), 'image/jpeg'),
    textPart('and this:'),
    audioPart(mp3(4_001), 'mp3'),
    filePart(pdf(70_000)),
  ]
  const { status, body } = await key.chat({ messages: messagesWith(...content) })
  t.equal(status, 200, JSON.stringify(body))
  t.strictSame(provider.requests[0]?.body.messages.at(-1)?.content, content)
  t.equal(
    Number(provider.requests[0]?.headers['content-length']),
    Buffer.byteLength(JSON.stringify(provider.requests[0]?.body)),
  )

  const { session_id } = body
  await key.chat({ messages: user('And now?'), session_id })
  const again = provider.requests[1]?.body.messages ?? []
  t.strictSame(again.at(-3)?.content, content, 'earlier files are shown again')
  t.equal(again.at(-1)?.content, 'And now?')
  for (let n = 0; n < 4; n++)
    await key.chat({
      messages: messagesWith(...content.filter(({ type }) => type !== 'text')),
      session_id,
    })
  const last = provider.requests.at(-1)?.body.messages ?? []
  t.equal(last.at(-3)?.content?.length, 4)
  t.match(
    last[1]?.content,
    /^Compare\nwith\nand this:\n\[image, image\/png, 10 × 20 pixels, 200000 bytes\]\n.*\n.*\n\[file “report.pdf”, application\/pdf, 70000 bytes\]$/,
    'older ones are named',
  )
})

t.test(
  'invalid or unsupported parts are refused before anything is stored or reserved',
  async (t) => {
    const images = { LLM_MODALITIES: '{"test/*":["image"]}' }
    const { provider, server, organization, key } = await startChat(t, undefined, {}, images)
    const many = (count: number) => Array.from({ length: count }, () => imagePart())
    const cases: [string, readonly object[], number, string, RegExp][] = [
      ['a sound', [audioPart()], 400, 'unsupported_content', /test\/model takes no sounds/],
      ['a file', [filePart()], 400, 'unsupported_content', /test\/model takes no files/],
      [
        'no base64',
        [{ ...imagePart(), image_url: { url: 'data:image/png;base64,#' } }],
        400,
        'invalid_content',
        /base64/,
      ],
      [
        'an address within',
        [{ type: 'image_url', image_url: { url: 'https://127.0.0.1/a' } }],
        400,
        'invalid_content',
        /not public/,
      ],
      [
        'plain HTTP',
        [{ type: 'image_url', image_url: { url: 'http://example.com/a' } }],
        400,
        'invalid_content',
        /https/,
      ],
      [
        'another scheme',
        [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
        400,
        'invalid_input',
        /https address/,
      ],
      [
        'text in a data URL',
        [{ type: 'image_url', image_url: { url: 'data:text/plain,hi' } }],
        400,
        'invalid_input',
        /data URL/,
      ],
      [
        'a stored file',
        [{ type: 'file', file: { file_id: 'file-1' } }],
        400,
        'invalid_input',
        /There are no stored files/,
      ],
      ['too many', many(21), 400, 'invalid_input', /at most 20 files/],
    ]
    for (const [name, content, status, code, message] of cases)
      t.match(
        await key.chat({ messages: messagesWith(...content) }),
        { status, code, body: { error: { message } } },
        name,
      )
    const three = [1, 2, 3].map(() => ({ role: 'user', content: many(20) }))
    t.match(await key.chat({ messages: three }), {
      status: 400,
      body: { error: { message: /at most 50/ } },
    })
    t.equal(provider.requests.length, 0)
    t.equal((await key.sessions()).body.total, 0)
    const { balance, effective } = await organization.balance()
    t.equal(balance, effective)
    const audit = `/organizations/${organization.organizationId}/audit/events?type=UserMessageSent`
    t.strictSame((await server.platform.ask('GET', audit)).events, [])
  },
)

t.test('a model that does not take a file receives a description of it', async (t) => {
  const images = { LLM_MODALITIES: '{"test/seeing":["image"]}' }
  const { provider, organization, key } = await startChat(t, undefined, {}, images)
  const [seeing, blind] = [
    await organization.agent({ name: 'Seeing', model: 'test/seeing' }),
    await organization.agent({ name: 'Blind', model: 'test/blind' }),
  ]
  const both = { agent_type: 'SEQUENTIAL_AGENT', sub_agents: [seeing, blind] }
  const target_agent_id = await organization.agent({ name: 'Both', ...both })
  const content = [textPart('Look'), imagePart()]
  const { status, body } = await key.chat({ messages: messagesWith(...content), target_agent_id })
  t.equal(status, 200, JSON.stringify(body))
  const [first, second] = provider.requests.map((request) => request.body.messages.at(-1)?.content)
  t.strictSame(first, content)
  t.equal(second, 'Look\n[image, image/png, 640 × 480 pixels, 33 bytes]')
  const alone = await key.chat({ messages: messagesWith(...content), target_agent_id: blind })
  t.match(alone, { code: 'unsupported_content', body: { error: { message: /test\/blind/ } } })
})

t.test('agents are sent files on their own route too', async (t) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const key = await organization.key()
  const agent = await organization.agent({ name: 'Alone' })
  const path = `/api/external/agents/${agent}/completions`
  const { body } = await key.ask('POST', path, { message: [textPart('Hm'), imagePart()] })
  t.match(body.response, /^I was given an image: PNG, 640 × 480 pixels, 33 bytes\./)
})
