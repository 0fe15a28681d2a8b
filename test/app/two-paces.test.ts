import t from 'tap'
import { withOrganization } from '../support/partner.ts'
import { superAdminKey } from '../support/platform.ts'
import { type StartedApp, startApp } from '../support/server.ts'

const sizeIn = (note: string): number => Number(note.split('\n')[1])

const checkpointOf = async ({ http }: StartedApp, at: string): Promise<number> => {
  const headers = { 'x-api-key': superAdminKey }
  const reply = await http.inject({ url: `${at}/audit/checkpoint`, headers })
  return sizeIn(reply.body)
}

t.test('an acknowledged write is in every later answer', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at } = await withOrganization(all)
  const { asPlatform: platform } = all
  const initial = await checkpointOf(all, at)
  let acknowledged = 0
  const writer = async (name: string) => {
    for (let n = 0; n < 40; n++) {
      const reply = await platform('POST', `${at}/api-keys`, { name: `${name} ${n}` })
      if (reply.status !== 201) t.fail(`${reply.status}`)
      acknowledged++
    }
  }
  const reader = async () => {
    for (let n = 0; n < 20; n++) {
      const before = acknowledged
      const size = await checkpointOf(all, at)
      if (size < initial + before) t.fail(`${size} of ${initial + before}`)
      const { body } = await platform('GET', `${at}/audit/events?type=ApiKeyCreated&limit=500`)
      if (body.events.length < before) t.fail(`${body.events.length} of ${before}`)
      const state = await platform('GET', `${at}/audit/state?view=api_keys&limit=1`)
      if (state.body.total < before) t.fail(`${state.body.total} of ${before}`)
    }
  }
  await Promise.all([writer('a'), writer('b'), reader(), reader()])
  t.equal(await checkpointOf(all, at), initial + acknowledged)
})
