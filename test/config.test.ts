import t from 'tap'
import { configFrom } from '../src/config.ts'

const key = 'k'.repeat(32)
const bytes = Buffer.alloc(32, 7).toString('base64')

const refusing = (env: Record<string, string>): Error => {
  try {
    configFrom(env)
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it was accepted')
}

t.test('unset and empty settings have their defaults', async (t) => {
  const config = configFrom({ HOST: '', PORT: '', SUPER_ADMIN_KEY: '', DEMO: '', PATH: '/bin' })
  t.strictSame(config, {
    HOST: '127.0.0.1',
    PORT: 3000,
    DATA_DIR: './data',
    EVENTSTORE_NAMESPACE: 'reprise',
    API_CALL_ALLOW_HOSTS: [],
    TRUST_PROXY: false,
    REQUIRE_HTTPS: 'on',
    CORS_ORIGINS: [],
    LOG_LEVEL: 'info',
    RUN_MAX_MODEL_CALLS: 100,
    RUN_MAX_STEPS: 200,
    STORAGE_QUOTA_BASIC: 5_368_709_120,
    STORAGE_QUOTA_PRO: 53_687_091_200,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_SDK_DISABLED: false,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false,
    DEMO: true,
  })
})

t.test('every variable is read', async (t) => {
  const text = {
    HOST: '0.0.0.0',
    DATA_DIR: '/data',
    EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false',
    MONGODB_URL: 'mongodb://127.0.0.1:27017/reprise',
    SUPER_ADMIN_KEY: key,
    LLM_BASE_URL: 'https://llm.example/v1',
    LLM_API_KEY: 'sk',
    LLM_MODEL: 'large',
    GENERATION_BASE_URL: 'https://images.example',
    GENERATION_API_KEY: 'gk',
    PUBLIC_URL: 'https://api.example',
    REQUIRE_HTTPS: 'always',
    TLS_CERT: '/cert.pem',
    TLS_KEY: '/key.pem',
    LOG_LEVEL: 'debug',
  }
  const runs = {
    RUN_MAX_MODEL_CALLS: '7',
    RUN_MAX_STEPS: '9',
    STORAGE_QUOTA_BASIC: '1000',
    STORAGE_QUOTA_PRO: '2000',
  }
  const read = configFrom({ ...text, ...runs, PORT: '8080', MASTER_KEY: bytes, DEMO: 'off' })
  const limits = {
    RUN_MAX_MODEL_CALLS: 7,
    RUN_MAX_STEPS: 9,
    STORAGE_QUOTA_BASIC: 1_000,
    STORAGE_QUOTA_PRO: 2_000,
  }
  t.match(read, { ...text, ...limits, PORT: 8080, DEMO: false })
  t.strictSame(Buffer.from(read.MASTER_KEY ?? []), Buffer.alloc(32, 7))
})

t.test('a path is put behind PUBLIC_URL, whether it ends with a slash or not', async (t) => {
  const of = (PUBLIC_URL: string) => configFrom({ PUBLIC_URL }).PUBLIC_URL
  t.equal(of('https://api.example/'), 'https://api.example')
  t.equal(of('https://api.example/base'), 'https://api.example/base')
})

t.test('whom to trust', async (t) => {
  for (const [text, trusted] of [
    ['on', true],
    ['OFF', false],
    ['1', true],
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/8, fd00::/8,loopback', ['10.0.0.0/8', 'fd00::/8', 'loopback']],
  ] as const)
    t.strictSame(configFrom({ TRUST_PROXY: text }).TRUST_PROXY, trusted, text)
})

t.test('every error is named at once, and no value', async (t) => {
  const wrong = {
    PORT: '70000',
    EVENTSTORE_URL: 'http://secret-1',
    MONGODB_URL: 'mongodb://user:secret-2@host',
    SUPER_ADMIN_KEY: 'secret-3',
    MASTER_KEY: 'secret-4',
    LLM_BASE_URL: 'ftp://secret-5',
    LLM_PROVIDERS: '{"secret-6"',
    LLM_PRICES: '{"openai/*":{"prompt":"secret-7"}}',
    PUBLIC_URL: 'secret-8',
    TRUST_PROXY: 'secret-9',
    REQUIRE_HTTPS: 'secret-10',
    TLS_KEY: 'secret-11',
    LOG_LEVEL: 'secret-12',
    DEMO: 'secret-13',
    OIDC_ISSUER: 'secret-14',
  }
  const error = refusing(wrong)
  t.equal(error.name, 'ConfigInvalid')
  for (const name of [...Object.keys(wrong), 'TLS_CERT', 'LLM_MODEL', 'OIDC_CLIENT_ID'])
    if (name !== 'TLS_KEY') t.match(error.message, new RegExp(`^ {2}${name}[.:]`, 'm'))
  t.notMatch(error.message, 'secret')
})

t.test('a variable with one error is named, whatever else is set', async (t) => {
  const urls = [
    'LLM_BASE_URL',
    'GENERATION_BASE_URL',
    'PUBLIC_URL',
    'OIDC_ISSUER',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'EVENTSTORE_URL',
    'MONGODB_URL',
  ]
  for (const name of urls)
    for (const text of ['notaurl', 'https://', 'https://[', 'javascript:x', ' '])
      t.match(refusing({ PORT: 'abc', LLM_MODEL: 'm', OIDC_CLIENT_ID: 'x', [name]: text }), {
        name: 'ConfigInvalid',
        message: new RegExp(`^ {2}PORT: .*\\n(?:.*\\n)* {2}${name}: `, 'm'),
      })
})

t.test('a malformed OIDC_ISSUER is the only error of its variables', async (t) => {
  const { message } = refusing({ OIDC_ISSUER: 'notaurl', OIDC_CLIENT_ID: 'x', PORT: 'abc' })
  t.strictSame(message.match(/^ {2}\w+(?=: )/gm), ['  PORT', '  OIDC_ISSUER'])
  for (const OIDC_ISSUER of ['http://login.example', 'ftp://localhost'])
    t.match(refusing({ OIDC_ISSUER, OIDC_CLIENT_ID: 'x' }).message, /OIDC_ISSUER: /)
})

t.test('OIDC_ISSUER and OIDC_CLIENT_ID go together, OIDC_CLIENT_SECRET with both', async (t) => {
  const [OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET] = ['https://id.example', 'x', 'secret']
  for (const [env, missing] of [
    [{ OIDC_ISSUER }, ['OIDC_CLIENT_ID']],
    [{ OIDC_CLIENT_ID }, ['OIDC_ISSUER']],
    [{ OIDC_CLIENT_SECRET }, ['OIDC_ISSUER', 'OIDC_CLIENT_ID']],
    [{ OIDC_ISSUER, OIDC_CLIENT_SECRET }, ['OIDC_CLIENT_ID']],
    [{ OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }, ['OIDC_ISSUER']],
  ] as const) {
    const { message } = refusing(env)
    t.strictSame(message.match(/\w+(?=: must be set)/g), missing, Object.keys(env).join())
    t.notMatch(message, 'secret')
  }
  for (const env of [
    {},
    { OIDC_ISSUER, OIDC_CLIENT_ID },
    { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET },
    { OIDC_ISSUER: 'http://localhost:8080/realm', OIDC_CLIENT_ID },
  ])
    t.match(configFrom(env), env)
})

t.test(
  'several hosts of EventStoreDB are asked one after the other, or refused with what to write',
  async (t) => {
    const hosts = 'a:2113,b:2113,c:2113'
    const options = '?tls=true'
    const { message } = refusing({ EVENTSTORE_URL: `esdb+discover://u:secret@${hosts}${options}` })
    t.match(
      message,
      `EVENTSTORE_URL: names several hosts with esdb+discover, which asks only the first`,
    )
    t.match(message, `esdb://u:…@${hosts}${options}`)
    t.notMatch(message, 'secret')
    for (const EVENTSTORE_URL of [`esdb://${hosts}${options}`, 'esdb+discover://name:2113'])
      t.match(configFrom({ EVENTSTORE_URL }), { EVENTSTORE_URL, EVENTSTORE_NAMESPACE: 'reprise' })
  },
)

t.test('a namespace begins with a letter and has no dots', async (t) => {
  t.match(configFrom({ EVENTSTORE_NAMESPACE: 'shop-2_a' }), { EVENTSTORE_NAMESPACE: 'shop-2_a' })
  for (const text of ['$all', 'a.b', '1a', `a${'b'.repeat(64)}`])
    t.match(refusing({ EVENTSTORE_NAMESPACE: text }).message, 'EVENTSTORE_NAMESPACE: must be')
})

t.test('a master key has 32 bytes', async (t) => {
  for (const length of [16, 31, 33])
    t.match(
      refusing({ MASTER_KEY: Buffer.alloc(length).toString('base64') }).message,
      /MASTER_KEY: must be 32 bytes/,
    )
})

t.test('CORS_ORIGINS are origins', async (t) => {
  const of = (CORS_ORIGINS: string) => configFrom({ CORS_ORIGINS }).CORS_ORIGINS
  t.strictSame(of('https://App.example, capacitor://localhost,http://localhost:5173'), [
    'https://app.example',
    'capacitor://localhost',
    'http://localhost:5173',
  ])
  t.strictSame(of('*'), ['*'])
  for (const wrong of ['app.example', 'https://app.example/', 'https://*.example', 'null', 'a b'])
    t.match(refusing({ CORS_ORIGINS: wrong }).message, /CORS_ORIGINS.*: must be origins/, wrong)
})
