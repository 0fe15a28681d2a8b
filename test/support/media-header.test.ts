import t from 'tap'
import { mediaHeader } from '../../src/support/media-header.ts'
import { gif, jpeg, mp3, pdf, png, wav, webp } from './media.ts'

t.test('detects format and size by the first bytes', async (t) => {
  const size = { width: 800, height: 600 }
  const images = {
    'image/png': [png(800, 600)],
    'image/gif': [gif(800, 600)],
    'image/jpeg': [jpeg(800, 600), jpeg(800, 600, 60_000)],
    'image/webp': [webp.lossy(800, 600), webp.lossless(800, 600), webp.extended(800, 600)],
  }
  for (const [mediaType, all] of Object.entries(images))
    for (const bytes of all) t.strictSame(mediaHeader(bytes), { mediaType, ...size }, mediaType)
  t.strictSame(mediaHeader(wav()), { mediaType: 'audio/wav' })
  t.strictSame(mediaHeader(mp3()), { mediaType: 'audio/mpeg' })
  t.strictSame(mediaHeader(Buffer.from('ID3\x04')), { mediaType: 'audio/mpeg' })
  t.strictSame(mediaHeader(pdf()), { mediaType: 'application/pdf' })
})

t.test('whatever the bytes are, there is an answer', async (t) => {
  for (const text of ['', 'hello', '<svg/>', 'RIFF', 'RIFFxxxxAVI ', 'BM'])
    t.equal(mediaHeader(Buffer.from(text)), undefined, JSON.stringify(text))
  const samples = [
    png(),
    gif(1, 1),
    jpeg(9, 9),
    webp.lossy(1, 1),
    webp.lossless(1, 1),
    webp.extended(1, 1),
  ]
  for (const bytes of samples)
    for (let length = 0; length <= bytes.length; length++)
      t.doesNotThrow(() => mediaHeader(bytes.subarray(0, length)))
  t.strictSame(mediaHeader(png(0, 0)), { mediaType: 'image/png' }, 'no size is none')
  const looping = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0, 0, 0, 0, 0])
  t.strictSame(mediaHeader(looping), { mediaType: 'image/jpeg' }, 'a segment of no length')
  t.strictSame(
    mediaHeader(Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(200_000, 0xff)])),
    { mediaType: 'image/jpeg' },
    'nothing but fill bytes',
  )
})
