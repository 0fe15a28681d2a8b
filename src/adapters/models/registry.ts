import { type Model, ModelFault, type Models } from '../../ports/model.ts'
import { offlineModel } from './offline.ts'
import { type OpenAiOptions, openAiModel } from './openai.ts'
import { prices as listed, type Prices, priceOf } from './prices.ts'

export const offlineName = 'offline/extractive'
const plainProvider = 'openai'

export type ModelsConfig = {
  /** LLM_BASE_URL; unset: nothing but the offline model. */
  baseUrl?: string | undefined
  /** LLM_API_KEY */
  apiKey?: string | undefined
  /**
   * LLM_MODEL: `provider/model`. What stands before the first slash is what agents call the
   * provider; a name without a slash belongs to `openai`.
   */
  model?: string | undefined
  /** Beside and over the built-in table. */
  prices?: Prices
  transport?: Omit<OpenAiOptions, 'baseUrl' | 'apiKey'>
}

const split = (name: string, plain: string) => {
  const slash = name.indexOf('/')
  return slash === -1
    ? { provider: plain, id: name }
    : { provider: name.slice(0, slash), id: name.slice(slash + 1) }
}

/**
 * The configured provider under the name that LLM_MODEL begins with, and the offline model, which
 * is the default as long as no other is configured. A name without a slash is one of the
 * configured provider's.
 */
export const modelsFrom = (config: ModelsConfig): Models & { close(): Promise<void> } => {
  const table = { ...listed, ...config.prices }
  const providers = new Map<string, Model>([['offline', offlineModel()]])
  const { provider, id } = split(config.model ?? '', plainProvider)
  const remote = config.baseUrl
    ? openAiModel({
        ...config.transport,
        baseUrl: config.baseUrl,
        ...(config.apiKey ? { apiKey: config.apiKey } : {}),
      })
    : undefined
  if (remote) providers.set(provider, remote)
  const fallback = remote && id ? `${provider}/${id}` : offlineName

  return {
    resolve: (name) => {
      const wanted = split(name || fallback, provider)
      const full = `${wanted.provider}/${wanted.id}`
      const model = providers.get(wanted.provider)
      if (!model || (wanted.provider === 'offline' && full !== offlineName))
        throw new ModelFault(`no model ${full} is configured`)
      return { model, name: full, id: wanted.id, price: priceOf(table, full) }
    },
    close: async () => remote?.close(),
  }
}
