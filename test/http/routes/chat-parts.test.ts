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

const said = (...content: readonly object[]) => [{ role: 'user', content }]
const everything = JSON.stringify({ 'test/*': ['image', 'audio', 'file'] })

t.test('the offline model tells what it was given', async (t) => {
  const server = await startApp(t)
  const key = await (await server.platform.organization()).key()
  const ask = async (...content: readonly object[]) => {
    const { status, body } = await key.chat({ messages: said(...content) })
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
  const { status, body } = await key.chat({ messages: said(...content) })
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
    await key.chat({ messages: said(...content.filter(({ type }) => type !== 'text')), session_id })
  const last = provider.requests.at(-1)?.body.messages ?? []
  t.equal(last.at(-3)?.content?.length, 4)
  t.match(
    last[1]?.content,
    /^Compare\nwith\nand this:\n\[image, image\/png, 10 × 20 pixels, 200000 bytes\]\n.*\n.*\n\[file “report.pdf”, application\/pdf, 70000 bytes\]$/,
    'older ones are named',
  )
})
