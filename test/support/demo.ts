import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { app } from '../../src/app/app.ts'
import { configFrom } from '../../src/config.ts'
import { superAdminKey } from './platform.ts'

/** A fresh server with the demo organization, in this process; `env` adds to its configuration. */
export const startDemo = async (t: Test, env: Record<string, string> = {}) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  const config = configFrom({
    DATA_DIR: path,
    SUPER_ADMIN_KEY: superAdminKey,
    LOG_LEVEL: 'silent',
    ...env,
  })
  const { http, demo, close } = await app(config, { log: pino({ level: 'silent' }) })
  t.teardown(async () => {
    await close()
    await rm(path, { recursive: true, force: true })
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const account = await demo()
  if (!account) throw new Error('there is no demo organization')
  return { url, ...account }
}
