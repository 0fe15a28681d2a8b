import { lastValueFrom } from 'rxjs'
import t from 'tap'
import { openModels } from '../../src/app/models.ts'
import { configFrom } from '../../src/config.ts'
import { chunk, endsWith, sse } from '../support/provider-chunks.ts'
import { providerDouble } from '../support/provider-double.ts'

t.test(
  'an unknown finish reason is logged with its provider, and nothing else of it',
  async (t) => {
    const provider = await providerDouble()
    t.teardown(provider.close)
    const lines: unknown[] = []
    const log = { warn: (facts: unknown) => lines.push(facts) }
    const config = configFrom({ LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
    const { models, close } = await openModels({ config, transport: undefined, log })
    t.teardown(close)
    const { model, id } = models.resolve(null)
    for (const reason of ['OTHER', `sk-${'secret '.repeat(20)}`]) {
      provider.next({ raw: sse(chunk({ content: 'Hi' }), endsWith(reason)) })
      await lastValueFrom(model.stream({ model: id, messages: [{ role: 'user', content: 'Hi' }] }))
    }
    t.strictSame(lines, [
      { provider: 'test', reason: 'OTHER' },
      { provider: 'test', reason: 'not a word' },
    ])
  },
)
