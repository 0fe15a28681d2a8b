import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { pino } from 'pino'
import { app } from '../dist/src/app/app.js'
import { configFrom } from '../dist/src/config.js'

/**
 * Writes src/api/schema.d.ts, the types of the API, from the compiled server's OpenAPI document.
 * `npm run check` compiles the console against it, so a changed route breaks the check.
 */
const target = join(dirname(fileURLToPath(import.meta.url)), 'src/api/schema.d.ts')

const documentOf = async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'reprise-'))
  const config = configFrom({ DATA_DIR, DEMO: 'off', LOG_LEVEL: 'silent' })
  const { http, close } = await app(config, { log: pino({ level: 'silent' }), laterApart: false })
  try {
    return (await http.inject('/api/openapi.json')).json()
  } finally {
    await close()
    await rm(DATA_DIR, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

const types = astToString(await openapiTS(await documentOf(), { alphabetize: true }))
const former = await readFile(target, 'utf8').catch(() => '')
if (types !== former) await writeFile(target, types)
