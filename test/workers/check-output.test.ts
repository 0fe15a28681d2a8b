import t from 'tap'
import { checkOutput } from '../../src/workers/check-output.ts'

type Ordered = 'image' | 'video' | 'audio' | 'glb'

const check = async (contentType: Ordered, mediaType: string, text: string, pieces = 1) => {
  const bytes = Buffer.from(text, 'latin1')
  const length = Math.max(1, Math.ceil(bytes.length / pieces))
  let closed = false
  async function* stream() {
    try {
      for (let from = 0; from < bytes.length; from += length)
        yield bytes.subarray(from, from + length)
    } finally {
      closed = true
    }
  }
  try {
    const output = await checkOutput({ bytes: stream(), mediaType }, { contentType })
    const parts: Uint8Array[] = []
    for await (const part of output.bytes) parts.push(part)
    return { mediaType: output.mediaType, same: Buffer.concat(parts).equals(bytes) }
  } catch (error) {
    const { name, message } = error as Error
    return { name, message, closed: closed || bytes.length === 0 }
  }
}

const png = `\x89PNG\r\n\x1a\n${'x'.repeat(5_000)}`

t.test('lets through what was ordered, whole', async (t) => {
  for (const [ordered, type, text] of [
    ['image', 'image/png', png],
    ['image', 'IMAGE/PNG', png],
    ['image', 'image/svg+xml', '<?xml version="1.0"?><svg/>'],
    ['image', 'image/svg+xml', '<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['audio', 'audio/wav', 'RIFF'],
    ['video', 'video/mp4', 'anything'],
    ['glb', 'model/gltf-binary', 'glTF'],
    ['glb', 'model/gltf+json', '{}'],
  ] as const)
    for (const pieces of [1, 3, 5_000])
      t.strictSame(await check(ordered, type, text, pieces), {
        mediaType: type.toLowerCase(),
        same: true,
      })
})

t.test('reads the type off the first bytes where none is declared', async (t) => {
  for (const [ordered, text, mediaType] of [
    ['glb', 'glTF\x02', 'model/gltf-binary'],
    ['image', png, 'image/png'],
    ['image', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['audio', '\x1a\x45\xdf\xa3', 'audio/webm'],
    ['video', '\x1a\x45\xdf\xa3', 'video/webm'],
    ['video', '\0\0\0\x18ftypisom', 'video/mp4'],
    ['image', '\0\0\0\x18ftypavif', 'image/avif'],
    ['image', 'something unknown', 'application/octet-stream'],
  ] as const)
    for (const type of ['application/octet-stream', ''])
      t.strictSame(await check(ordered, type, text), { mediaType, same: true })
})

t.test('refuses what is empty, a page, or of another type than was ordered', async (t) => {
  for (const [ordered, type, text, message] of [
    ['image', 'image/png', '', 'The provider gave an empty output'],
    ['image', 'text/html', '<!DOCTYPE html><p>Sign in', /text\/html instead of the image/],
    ['image', 'image/png', '\n<html><p>Sign in', /text\/html instead/],
    ['video', 'application/octet-stream', '<!doctype HTML>', /text\/html instead/],
    ['image', 'application/json', '{"error":"quota"}', /application\/json instead/],
    ['image', 'application/pdf', '%PDF-1.7', /application\/pdf instead/],
    ['image', 'video/mp4', 'x', /video\/mp4 instead of the image/],
    ['audio', 'application/octet-stream', png, /image\/png instead of the audio/],
    ['glb', 'model/obj', 'v 0 0 0', /model\/obj instead of the glb/],
  ] as const)
    t.match(await check(ordered, type, text, 2), { name: 'ProviderFault', message, closed: true })
})
