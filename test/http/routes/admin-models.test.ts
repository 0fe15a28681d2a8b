import t from 'tap'
import { startApp } from '../../support/server.ts'

const secret = 'sk-secret-of-the-provider'
const providers = {
  LLM_BASE_URL: 'http://models.internal.test:8080/v1',
  LLM_API_KEY: secret,
  LLM_MODEL: 'acme/large',
  LLM_PROVIDERS: JSON.stringify([
    { name: 'other', base_url: 'http://other.internal.test/v1', api_key: secret },
  ]),
  LLM_FALLBACKS: 'other/small',
  LLM_PRICES: JSON.stringify({
    'acme/mini': { prompt: 1, completion: 2 },
    'acme/*': { prompt: 1, completion: 2 },
    'gone/model': { prompt: 1, completion: 2 },
  }),
}

const pathOf = (organizationId: string) => `/api/admin/organizations/${organizationId}/models`

t.test('the models of the configuration, without keys and addresses of providers', async (t) => {
  const { platform } = await startApp(t, providers)
  const organization = await platform.organization()
  const key = await organization.key({ scopes: ['admin:read'] })
  const { status, body } = await key.ask('GET', pathOf(organization.organizationId))
  t.equal(status, 200)
  t.strictSame(body, {
    default_model: 'acme/large',
    models: [
      { model: 'offline/extractive', provider: 'offline' },
      { model: 'acme/large', provider: 'acme' },
      { model: 'other/small', provider: 'other' },
      { model: 'acme/mini', provider: 'acme' },
    ],
    providers: [
      { provider: 'offline', any_model: false },
      { provider: 'acme', any_model: true },
      { provider: 'other', any_model: true },
    ],
  })
  t.notMatch(JSON.stringify(body), /secret|internal/)
})

t.test('without a provider, the offline model is all that there is', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const { body } = await (await organization.key({ scopes: ['admin:read'] })).ask(
    'GET',
    pathOf(organization.organizationId),
  )
  t.strictSame(body, {
    default_model: 'offline/extractive',
    models: [{ model: 'offline/extractive', provider: 'offline' }],
    providers: [{ provider: 'offline', any_model: false }],
  })
})

t.test('models are listed for managers of the organization alone', async (t) => {
  const { platform, asPlatform } = await startApp(t)
  const organization = await platform.organization()
  const path = pathOf(organization.organizationId)
  const other = await platform.organization()
  const stranger = await other.key({ scopes: ['admin:read'] })
  t.match(await stranger.ask('GET', path), { status: 403, code: 'organization_access_denied' })
  const weak = await organization.key({ scopes: ['agents:list'] })
  t.match(await weak.ask('GET', path), { status: 403, code: 'insufficient_scopes' })
  t.match(await asPlatform('GET', path), { status: 200 })
  t.match(await asPlatform('GET', pathOf('none')), { status: 404, code: 'organization_not_found' })
})
