import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { app } from '../../src/app/app.ts'
import { configFrom } from '../../src/config.ts'

const log = pino({ level: 'silent' })

const dataDir = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

const missing = join(tmpdir(), 'there-is-no-such-file.pem')

/** Configurations that parse and fail to open: right after the stores, or at the very end. */
const unusable = {
  'a fallback that no provider has': {
    env: { LLM_FALLBACKS: 'nowhere/model' },
    refused: { name: 'ModelMisconfigured' },
  },
  'a certificate that is not there': {
    env: { TLS_CERT: missing, TLS_KEY: missing },
    refused: { name: 'ConfigInvalid' },
  },
}

for (const [what, { env, refused }] of Object.entries(unusable))
  t.test(`${what}: nothing stays open, and the same DATA_DIR opens again`, async (t) => {
    const DATA_DIR = await dataDir(t)
    await t.rejects(app(configFrom({ DATA_DIR, ...env }), { log }), refused)
    const opened = await app(configFrom({ DATA_DIR }), { log })
    t.match(await opened.http.inject('/api/health'), { statusCode: 200 })
    await opened.close()
  })

setFlagsFromString('--expose-gc')
const collected: () => void = runInNewContext('gc')

t.test('nothing holds an application that is closed', async (t) => {
  const DATA_DIR = await dataDir(t)
  const closed = async (): Promise<WeakRef<object>> => {
    const { http, close } = await app(configFrom({ DATA_DIR }), { log, laterApart: false })
    t.match(await http.inject('/api/health'), { statusCode: 200 })
    await close()
    return new WeakRef(http)
  }
  const http = await closed()
  for (let n = 0; http.deref() && n < 100; n++) {
    await setImmediate()
    collected()
  }
  t.equal(http.deref(), undefined)
})
