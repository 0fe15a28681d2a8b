import { allRag, encodedFile, library } from '../../support/library.ts'
import { raw } from '../../support/raw.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const uploads = rounds(4, 19)
const part = '--x\r\na: b\r\n\r\n\r\n'

/** Forms for links that nobody has, forms of parts without names, files of 10 MB in JSON. */
export const largeForms: Attack = async (server) => {
  const organization = await server.platform.organization()
  const key = await organization.key({ scopes: allRag })
  const { datastore, upload } = library(key)
  const id = await datastore()
  const ask = raw(server.url)
  const post = (path: string, type: string, body: string) =>
    ask(path, { method: 'POST', headers: { 'x-api-key': key.key, 'content-type': type }, body })
  const large = encodedFile('large.txt', Buffer.alloc(10 * 1024 * 1024, 'Zebras sleep. '))
  return async () => {
    const escapes = `csrf=${'%'.repeat(990_000)}`
    // The answer comes before the form: the connection may break while it is sent.
    const stranger = () =>
      post('/connect/unknown', 'application/x-www-form-urlencoded', escapes).then(
        (reply) => expect(reply, 404),
        () => undefined,
      )
    await Promise.all(Array.from({ length: 10 }, stranger))
    const form = 'multipart/form-data; boundary=x'
    expect(await post('/api/external/rag/upload', form, part.repeat(700_000)), 413)
    const replies = await Promise.all(Array.from({ length: uploads }, () => upload(id, large)))
    for (const reply of replies) expect(reply, 200, 429)
  }
}
