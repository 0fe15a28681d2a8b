import type { FastifyBaseLogger } from 'fastify'
import { embedderFrom, type ModelsConfig, modelsFrom } from '../adapters/models/registry.ts'
import type { Config } from '../config.ts'
import { opening } from '../support/disposal.ts'

type ModelSettings = Pick<
  Config,
  | 'LLM_BASE_URL'
  | 'LLM_API_KEY'
  | 'LLM_MODEL'
  | 'LLM_PROVIDERS'
  | 'LLM_FALLBACKS'
  | 'LLM_PRICES'
  | 'LLM_MODALITIES'
>

type Uses = {
  config: ModelSettings & Pick<Config, 'EMBEDDING_MODEL'>
  /** How long model providers are waited for. */
  transport: ModelsConfig['transport']
  log: Pick<FastifyBaseLogger, 'warn'>
}

/** The models of the environment. */
export const modelsConfigOf = (config: ModelSettings): ModelsConfig => ({
  baseUrl: config.LLM_BASE_URL,
  apiKey: config.LLM_API_KEY,
  model: config.LLM_MODEL,
  providers: config.LLM_PROVIDERS,
  fallbacks: config.LLM_FALLBACKS,
  prices: config.LLM_PRICES,
  modalities: config.LLM_MODALITIES,
})

/**
 * The configured language models, and the embedding model if there is one. @throws
 * ModelMisconfigured
 */
export const openModels = ({ config, transport, log }: Uses) =>
  opening(async (opened) => {
    const providers: ModelsConfig = {
      ...modelsConfigOf(config),
      ...(transport ? { transport } : {}),
      onUnknownReason: (provider, reason) =>
        log.warn({ provider, reason }, 'a model provider gave an unknown finish reason'),
    }
    const models = opened.use(modelsFrom(providers))
    const { EMBEDDING_MODEL } = config
    const embedder = EMBEDDING_MODEL
      ? opened.use(embedderFrom(providers, EMBEDDING_MODEL))
      : undefined
    return { models, embedder }
  })
