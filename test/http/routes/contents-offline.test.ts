import t from 'tap'
import { startApp } from '../../support/server.ts'

const path = '/api/external/content'

t.test('two retries at once, without a provider: one wins, the other gets 400', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const agent = await organization.agent({ name: 'Studio', tools: ['generate_content'] })
  const key = await organization.key({
    scopes: ['agents:invoke', 'content:read', 'content:retry'],
  })
  await key.ask('POST', `/api/external/agents/${agent}/completions`, {
    message: 'Create a video of a dog',
  })
  const failed = async () => {
    for (let looks = 0; looks < 100; looks++) {
      const { body } = await key.ask('GET', `${path}?status=failed`)
      if (body.total === 1) return body.items[0]
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return t.fail('the video never failed')
  }
  const { id, error_message } = await failed()
  t.equal(error_message, 'no video provider configured')
  const retries = await Promise.all([1, 2].map(() => key.ask('POST', `${path}/${id}/retry`)))
  t.strictSame(retries.map(({ status }) => status).toSorted(), [200, 400])
  t.match((await key.ask('GET', `${path}/${id}`)).body, { retry_count: 1 })
  await failed()
  t.match(await key.ask('POST', `${path}/${id}/retry`), { status: 200 })
})
