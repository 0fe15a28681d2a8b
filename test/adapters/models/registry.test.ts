import { lastValueFrom, toArray } from 'rxjs'
import t from 'tap'
import { modelsFrom } from '../../../src/adapters/models/registry.ts'
import { ModelMisconfigured } from '../../../src/ports/model.ts'
import { providerDouble } from '../../support/provider-double.ts'

t.test('nothing configured: the offline model, for a price that can be seen', async (t) => {
  const models = modelsFrom({})
  for (const name of [null, '', 'offline/extractive']) {
    const { name: full, id, price } = models.resolve(name)
    t.strictSame({ full, id }, { full: 'offline/extractive', id: 'extractive' })
    t.ok(price.prompt > 0 && price.completion > 0)
  }
  t.throws(() => models.resolve('openai/gpt-5'), ModelMisconfigured)
  t.throws(() => models.resolve('offline/other'), ModelMisconfigured)
  await models.close()
})

t.test('the configured provider, by its name', async (t) => {
  const provider = await providerDouble()
  t.teardown(provider.close)
  const models = modelsFrom({
    baseUrl: provider.url,
    apiKey: 'k',
    model: 'acme/large',
    prices: { 'acme/*': { prompt: 3, completion: 4 } },
  })
  t.teardown(models.close)
  t.match(models.resolve(null), { name: 'acme/large', id: 'large' })
  t.match(models.resolve('small'), { name: 'acme/small', id: 'small' })
  t.match(models.resolve('acme/a/b'), { id: 'a/b', price: { prompt: 3, completion: 4 } })
  t.match(models.resolve('offline/extractive'), { name: 'offline/extractive' })
  for (const name of ['acme/large', 'small', 'offline/extractive'])
    t.equal(models.modelFault(name), undefined)
  for (const name of ['other/large', 'offline/large', 'acme/'])
    t.equal(
      models.modelFault(name),
      `There is no model ${name}. There are offline/extractive, acme/*; the default is acme/large`,
    )
  t.throws(() => models.resolve('other/large'), ModelMisconfigured)
  const { model, id } = models.resolve(null)
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  await lastValueFrom(model.stream({ model: id, messages }).pipe(toArray()))
  t.equal(provider.requests[0]?.body.model, 'large')
})

t.test('a model without a provider name belongs to openai', async (t) => {
  const models = modelsFrom({ baseUrl: 'http://127.0.0.1:1/v1', model: 'gpt-5' })
  t.match(models.resolve(null), { name: 'openai/gpt-5', price: { prompt: 1.25, completion: 10 } })
  await models.close()
  const unnamed = modelsFrom({ baseUrl: 'http://127.0.0.1:1/v1' })
  t.match(unnamed.resolve(null), { name: 'offline/extractive' })
  t.match(unnamed.resolve('openai/x'), { id: 'x' })
  await unnamed.close()
})
