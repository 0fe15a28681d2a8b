import t from 'tap'
import { installationKey } from '../../src/security/vault.ts'
import { commanded } from '../support/commanded.ts'
import { platformCall } from '../support/recorded.ts'

t.test('keys are registered once, by a text that they alone open', async (t) => {
  const { registerKeys, vault, store } = await commanded(t)
  const { check } = await registerKeys(platformCall)
  t.equal(check.$sealed, installationKey)
  t.equal(await vault.open(check), 'reprise')
  const head = await store.head()
  const both = await Promise.all([registerKeys(platformCall), registerKeys(platformCall)])
  t.strictSame(both, [{ check }, { check }])
  t.equal(await store.head(), head)
})

t.test('of two that register at once one holds', async (t) => {
  const { registerKeys } = await commanded(t)
  const [first, second] = await Promise.all([
    registerKeys(platformCall),
    registerKeys(platformCall),
  ])
  t.strictSame(first, second)
})
