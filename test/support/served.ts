import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { app } from '../../src/app/app.ts'
import { configFrom } from '../../src/config.ts'

export const superAdminKey = 'platform-key-of-at-least-32-characters'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The whole application on new embedded stores, asked without a network. A process for audits would
 * cost each test half a second; tests of what is read there ask for it.
 */
export const served = async (
  t: Test,
  env: Record<string, string> = {},
  { laterApart = false } = {},
) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  const config = configFrom({
    DATA_DIR: path,
    SUPER_ADMIN_KEY: superAdminKey,
    DEMO: 'off',
    LOG_LEVEL: 'silent',
    ...env,
  })
  const { http, tick, close } = await app(config, {
    log: pino({ level: 'silent' }),
    positionGap: 7,
    laterApart,
  })
  t.teardown(async () => {
    await close()
    await rm(path, { recursive: true, force: true })
  })

  /** Asks with a key; answers status, body and code of a refusal. */
  const asking =
    (key: string, headers: Record<string, string> = {}) =>
    async (method: Method, url: string, payload?: object) => {
      const reply = await http.inject({
        method,
        url,
        headers: { 'x-api-key': key, ...headers },
        ...(payload ? { payload } : {}),
      })
      return {
        status: reply.statusCode,
        code: reply.headers['x-error-code'],
        body: reply.body ? reply.json() : undefined,
      }
    }

  return { http, tick, asking, platform: asking(superAdminKey) }
}

export type Served = Awaited<ReturnType<typeof served>>

/** An organization on the Pro plan, and its owner's user key. */
export const withOrganization = async ({ asking, platform }: Served) => {
  const created = await platform('POST', '/api/admin/organizations', {
    name: 'Acme',
    owner: { email: 'owner@example.com', name: 'Olga' },
    plan: 'pro_monthly',
    credits: 10,
  })
  const { organization_id, owner_user_id } = created.body
  const at = `/api/admin/organizations/${organization_id}`
  const key = await platform('POST', `${at}/api-keys`, { name: 'Own', type: 'user' })
  return { at, created, organization_id, owner_user_id, owner: asking(key.body.key) }
}
