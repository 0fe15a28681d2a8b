import t from 'tap'
import type { Keyed } from '../../../src/security/vault.ts'
import { storedRequest } from '../../../src/turns/begin/stored-request.ts'
import type { TurnRequest } from '../../../src/turns/turn.ts'
import { turnRequest } from '../../support/turn-request.ts'

/** A key whose boxes are the texts themselves. */
const key = { seal: (box: string) => ({ $sealed: 'key', box }) } as unknown as Keyed
const sealed = (box: string) => ({ $sealed: 'key', box })

const request = turnRequest()
const long = 'x'.repeat(300_000)
const instructed: TurnRequest = { ...request, system: [{ role: 'system', content: long }] }
const echo = { json: `{"instructions":"${long}"}`, short: '{"background":true}' }

t.test('the echo is stored, also of a request that is its message alone', async (t) => {
  t.strictSame(storedRequest({ ...request, echo }, key), { echo: sealed(echo.json) })
  t.strictSame(storedRequest(request, key), {})
})

t.test('defaults alone are not kept', async (t) => {
  t.strictSame(storedRequest({ ...request, echo: { json: '{}', short: '{}' } }, key), {})
})

t.test('beside a request that leaves no room, its short fields alone are kept', async (t) => {
  const stored = storedRequest({ ...instructed, echo }, key)
  t.strictSame(stored.echo, sealed(echo.short))
  t.ok(stored.request, 'the request itself is kept')
  t.strictSame(
    storedRequest({ ...instructed, echo: { ...echo, short: '{}' } }, key).echo,
    undefined,
  )
})

t.test('a request that is too large to be kept keeps the short fields of its answer', async (t) => {
  const system = [...instructed.system, ...instructed.system]
  t.strictSame(storedRequest({ ...request, system, echo }, key), {
    echo: sealed(echo.short),
    kept: false,
  })
})
