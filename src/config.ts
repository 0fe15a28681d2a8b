import { z } from 'zod'
import { refusedAddress } from './adapters/eventstoredb/address.ts'
import { isNamespace } from './adapters/eventstoredb/namespace.ts'

const yes = ['on', 'true', '1', 'yes']
const no = ['off', 'false', '0', 'no']
const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum([...yes, ...no], 'must be on or off'))
  .transform((text) => yes.includes(text))

const bytes32 = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32, 'must be 32 bytes in base64')

/** A variable that holds JSON. */
const json = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue('must be JSON')
        return z.NEVER
      }
    })
    .pipe(schema)

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

const trusted = 'must be on, off, or a list of addresses and ranges'
const proxy = z.union([
  z.ipv4(),
  z.ipv6(),
  z.cidrv4(),
  z.cidrv6(),
  z.enum(['loopback', 'linklocal', 'uniquelocal']),
])

const origins = list.pipe(
  z.array(
    z
      .string()
      .toLowerCase()
      .regex(/^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^/?#@*\s]+)$/, 'must be origins (https://host) or *'),
  ),
)

const toolHost = z
  .string()
  .toLowerCase()
  .regex(/^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/, 'must be host or host:port')

/** More OpenAI-compatible endpoints, by the name that agents call them by. */
const providers = z.array(
  z
    .object({ name: z.string().min(1), base_url: z.url(), api_key: z.string().optional() })
    .transform(({ name, base_url, api_key }) => ({ name, baseUrl: base_url, apiKey: api_key })),
)

/** Credits per million tokens, by `provider/model` or `provider/*`. */
const prices = z.record(
  z.string(),
  z.object({ prompt: z.number().min(0), completion: z.number().min(0) }),
)

/** What models take beside text, by `provider/model` or `provider/*`. */
const modalities = z.record(z.string(), z.array(z.enum(['image', 'audio', 'file'])))

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether an address is HTTPS or of this machine; of text that is no URL another check tells. */
const isSecureUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return !url || url.protocol === 'https:' || loopback.has(url.hostname)
}

const issuer = z
  .url({ protocol: /^https?$/ })
  .refine(isSecureUrl, 'must be https (loopback may be http)')

const gigabyte = 1024 ** 3

/** Also where another variable has errors of its own. */
const always = () => true

const environment = z
  .object({
    HOST: z.string().min(1).default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
    DATA_DIR: z.string().min(1).default('./data'),
    /** That stay free on the disk of DATA_DIR; unset: an eighth of it, between 8 and 256. */
    DISK_RESERVE_MB: z.coerce.number().int().min(1).max(1_048_576).optional(),
    EVENTSTORE_URL: z
      .string()
      .superRefine((url, context) => {
        const refused = refusedAddress(url)
        if (refused) context.addIssue(refused)
      })
      .optional(),
    /** What the names of our streams in EventStoreDB begin with. */
    EVENTSTORE_NAMESPACE: z
      .string()
      .refine(isNamespace, 'must be a letter, then up to 63 letters, digits, - or _')
      .default('reprise'),
    MONGODB_URL: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\/[^/]+\/[^?/]+/, 'must name a host and a database')
      .optional(),
    SUPER_ADMIN_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
    MASTER_KEY: bytes32.optional(),
    LLM_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
    LLM_API_KEY: z.string().min(1).optional(),
    LLM_MODEL: z.string().min(1).optional(),
    LLM_PROVIDERS: json(providers).optional(),
    /** `provider/model`, in the order in which they stand in for one that is down. */
    LLM_FALLBACKS: list.optional(),
    LLM_PRICES: json(prices).optional(),
    LLM_MODALITIES: json(modalities).optional(),
    /** `provider/model`; unset: documents are found by their words alone. */
    EMBEDDING_MODEL: z.string().min(1).optional(),
    GENERATION_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
    GENERATION_API_KEY: z.string().min(1).optional(),
    PUBLIC_URL: z
      .url({ protocol: /^https?$/ })
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    /** on: any peer may say X-Forwarded-*; or a list of addresses and ranges that may. */
    TRUST_PROXY: z.union([flag, list.pipe(z.array(proxy))], trusted).default(false),
    REQUIRE_HTTPS: z.enum(['on', 'off', 'always']).default('on'),
    TLS_CERT: z.string().min(1).optional(),
    TLS_KEY: z.string().min(1).optional(),
    /** An OpenID Connect provider that people may sign in to the console with. */
    OIDC_ISSUER: issuer.optional(),
    OIDC_CLIENT_ID: z.string().min(1).optional(),
    OIDC_CLIENT_SECRET: z.string().min(1).optional(),
    /** Hosts (`host` or `host:port`) that tools may call although private or without TLS. */
    API_CALL_ALLOW_HOSTS: list.pipe(z.array(toolHost)).default([]),
    /** Origins of web pages that may call the API from a browser; `*`: any. */
    CORS_ORIGINS: origins.default([]),
    LOG_LEVEL: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info'),
    /** Of all agents of a run together; over them it ends with what was said. */
    RUN_MAX_MODEL_CALLS: z.coerce.number().int().min(1).max(10_000).default(100),
    RUN_MAX_STEPS: z.coerce.number().int().min(1).max(10_000).default(200),
    /** Bytes that an organization may store, by plan. */
    STORAGE_QUOTA_BASIC: z.coerce
      .number()
      .int()
      .min(1)
      .default(5 * gigabyte),
    STORAGE_QUOTA_PRO: z.coerce
      .number()
      .int()
      .min(1)
      .default(50 * gigabyte),
    /** A receiver of OpenTelemetry. The packages themselves read the other standard variables. */
    OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/protobuf', 'http/json']).default('http/protobuf'),
    OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
    OTEL_METRICS_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
    OTEL_SDK_DISABLED: flag.default(false),
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag.default(false),
    DEMO: flag.default(true),
  })
  .refine(({ TLS_CERT, TLS_KEY }) => !TLS_CERT === !TLS_KEY, {
    when: always,
    path: ['TLS_CERT'],
    message: 'TLS_CERT and TLS_KEY (paths of PEM files) go together',
  })
  .refine((env) => env.OIDC_ISSUER || !(env.OIDC_CLIENT_ID || env.OIDC_CLIENT_SECRET), {
    when: always,
    path: ['OIDC_ISSUER'],
    message: 'must be set where OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is',
  })
  .refine((env) => env.OIDC_CLIENT_ID || !(env.OIDC_ISSUER || env.OIDC_CLIENT_SECRET), {
    when: always,
    path: ['OIDC_CLIENT_ID'],
    message: 'must be set where OIDC_ISSUER or OIDC_CLIENT_SECRET is',
  })
  .refine(({ LLM_BASE_URL, LLM_MODEL }) => !LLM_BASE_URL || LLM_MODEL, {
    when: always,
    path: ['LLM_MODEL'],
    message: 'must name a model of LLM_BASE_URL',
  })
  .refine(
    ({ EMBEDDING_MODEL, LLM_BASE_URL, LLM_PROVIDERS }) =>
      !EMBEDDING_MODEL || LLM_BASE_URL || LLM_PROVIDERS?.length,
    {
      when: always,
      path: ['EMBEDDING_MODEL'],
      message: 'needs a provider (LLM_BASE_URL or LLM_PROVIDERS)',
    },
  )

/** The names of all variables. */
export const variables: readonly string[] = Object.keys(environment.shape)

export type Config = z.infer<typeof environment>

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment does not fit; the message names every variable at once, never a value. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid'
}

/**
 * Configuration from the environment (docs/contract/configuration.md); an empty variable is unset.
 */
export const configFrom = (env: Environment): Config => {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(set)
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
  throw new ConfigInvalid(`The environment has errors:\n${lines.join('\n')}`)
}
