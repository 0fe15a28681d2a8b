import { LRUCache } from 'lru-cache'
import {
  type Model,
  ModelMisconfigured,
  type ModelOffer,
  type Models,
  type ResolvedModel,
} from '../../ports/model.ts'
import { withCircuit } from './circuit.ts'
import { openAiEmbedder } from './embeddings.ts'
import { withFallback } from './fallback.ts'
import { kindsOf, modalities as known, type Modalities } from './modalities.ts'
import { offlineModel } from './offline.ts'
import { type OpenAiOptions, openAiModel } from './openai.ts'
import { prices as listed, type Prices, priceOf, pricesOf } from './prices.ts'

export const offlineName = 'offline/extractive'
const plainProvider = 'openai'
/** Names come from agents' configurations; of so many what was found is kept. */
const mostResolved = 1_000

/** An OpenAI-compatible endpoint, and its name in agents' configurations. */
export type Provider = { name: string; baseUrl: string; apiKey?: string | undefined }

export type ModelsConfig = {
  /** LLM_BASE_URL; without it there are only the offline model and `providers`. */
  baseUrl?: string | undefined
  /** LLM_API_KEY */
  apiKey?: string | undefined
  /**
   * LLM_MODEL: `provider/model`. The part before the first slash is the provider's name in agents'
   * configurations; a name without a slash belongs to `openai`.
   */
  model?: string | undefined
  /** LLM_PROVIDERS: further endpoints. */
  providers?: readonly Provider[] | undefined
  /** LLM_FALLBACKS: the models asked, in order, when another model's provider is down. */
  fallbacks?: readonly string[] | undefined
  /** LLM_PRICES: added to the built-in table, and replacing prices in it. */
  prices?: Prices | undefined
  /** LLM_MODALITIES: likewise. */
  modalities?: Modalities | undefined
  transport?: Omit<OpenAiOptions, 'baseUrl' | 'apiKey'>
  /** Told the finish reasons of providers that are not known here. */
  onUnknownReason?(provider: string, reason: string): void
}

type ModelRegistry = Models & {
  /** The name of the model of agents that name none. */
  byDefault: string
  offer: ModelOffer
  /** Why there is no model of this name, with those that there are; undefined where there is. */
  modelFault(name: string): string | undefined
  close(): Promise<void>
}

const split = (name: string, plain: string) => {
  const slash = name.indexOf('/')
  return slash === -1
    ? { provider: plain, id: name }
    : { provider: name.slice(0, slash), id: name.slice(slash + 1) }
}

const providersOf = ({ baseUrl, apiKey, model, providers: named = [] }: ModelsConfig) => {
  const { provider, id } = split(model ?? '', plainProvider)
  return {
    provider,
    id,
    remotes: [...(baseUrl ? [{ name: provider, baseUrl, apiKey }] : []), ...named],
  }
}

/**
 * The names of models that the configuration has, in full: those that prices or kinds are listed
 * for too.
 */
export const configuredModels = (config: ModelsConfig): ReadonlySet<string> => {
  const { provider, id, remotes } = providersOf(config)
  const { fallbacks = [], prices = {}, modalities = {} } = config
  const byDefault = id && remotes.length > 0 ? [id] : []
  const named = [...byDefault, ...fallbacks, ...Object.keys(prices), ...Object.keys(modalities)]
  const full = named
    .map((name) => split(name, provider))
    .map((model) => `${model.provider}/${model.id}`)
  return new Set([offlineName, ...full.filter((name) => !name.endsWith('/*'))])
}

/**
 * The embedding model of that name (EMBEDDING_MODEL) at one of the configured providers; a name
 * without a slash belongs to the default provider.
 * @throws ModelMisconfigured for an unknown provider
 */
export const embedderFrom = (config: ModelsConfig, name: string) => {
  const { provider, remotes } = providersOf(config)
  const wanted = split(name, provider)
  const full = `${wanted.provider}/${wanted.id}`
  const match = remotes.findLast((remote) => remote.name === wanted.provider)
  if (!match || !wanted.id) throw new ModelMisconfigured(`no provider is configured for ${full}`)
  const { baseUrl, apiKey } = match
  return openAiEmbedder({
    ...config.transport,
    baseUrl,
    ...(apiKey ? { apiKey } : {}),
    model: wanted.id,
    name: full,
  })
}

/**
 * The configured providers, each behind a circuit breaker of its own, and the offline model, which
 * is the default unless another is configured. A name without a slash belongs to the default
 * provider.
 * @throws ModelMisconfigured for a fallback of an unknown provider
 */
export const modelsFrom = (config: ModelsConfig): ModelRegistry => {
  const { transport } = config
  const table = {
    ...pricesOf('built_in', listed),
    ...pricesOf('configured', config.prices ?? {}),
  }
  const takes = { ...known, ...config.modalities }
  const { provider, id, remotes: configured } = providersOf(config)
  const remotes = configured.map(({ name, baseUrl, apiKey }) => ({
    name,
    client: openAiModel({
      ...transport,
      baseUrl,
      ...(apiKey ? { apiKey } : {}),
      onUnknownReason: (reason) => config.onUnknownReason?.(name, reason),
    }),
  }))
  const providers = new Map<string, Model>([
    ['offline', offlineModel()],
    ...remotes.map(({ name, client }) => [name, withCircuit(client)] as const),
  ])
  const byDefault = id && providers.has(provider) ? `${provider}/${id}` : offlineName

  const find = (name: string): ResolvedModel | undefined => {
    const wanted = split(name, provider)
    const full = `${wanted.provider}/${wanted.id}`
    const model = providers.get(wanted.provider)
    if (!model || !wanted.id || (wanted.provider === 'offline' && full !== offlineName))
      return undefined
    return {
      model,
      name: full,
      id: wanted.id,
      price: priceOf(table, full),
      takes: kindsOf(takes, full),
    }
  }
  const alone = (name: string): ResolvedModel => {
    const model = find(name)
    if (!model) throw new ModelMisconfigured(`no model ${name} is configured`)
    return model
  }
  const offered = [offlineName, ...new Set(remotes.map(({ name }) => `${name}/*`))].join(', ')
  const fallbacks = (config.fallbacks ?? []).map(alone)

  const resolveWithFallback = (name: string): ResolvedModel => {
    const first = alone(name)
    const others = fallbacks.filter((other) => other.name !== first.name)
    if (first.name === offlineName || others.length === 0) return first
    return { ...first, model: withFallback(first, others) }
  }
  const resolved = new LRUCache<string, ResolvedModel>({
    max: mostResolved,
    memoMethod: resolveWithFallback,
  })

  const offer: ModelOffer = {
    byDefault,
    models: [...configuredModels(config)]
      .filter((name) => find(name))
      .map((name) => ({ name, provider: split(name, provider).provider })),
    providers: [...providers.keys()].map((name) => ({ name, anyModel: name !== 'offline' })),
  }

  return {
    byDefault,
    offer,
    modelFault: (name) =>
      find(name)
        ? undefined
        : `There is no model ${name}. There are ${offered}; the default is ${byDefault}`,
    resolve: (name) => resolved.memo(name || byDefault),
    close: async () => {
      await Promise.all(remotes.map(({ client }) => client.close()))
    },
  }
}
