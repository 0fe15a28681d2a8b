import t from 'tap'
import type { KeyringEvent } from '../../../src/domain/keyring/events.ts'
import { decideAddKey, decideDropKey, keyring } from '../../../src/domain/keyring/keyring.ts'
import { deciding } from '../../support/given.ts'

const at = '2026-01-01T00:00:00.000Z'
const added = (keyId: string, expiresAt: string | null = null): KeyringEvent => ({
  type: 'UserKeyAdded',
  data: { keyId, expiresAt },
})
const dropped = (keyId: string): KeyringEvent => ({ type: 'UserKeyDropped', data: { keyId } })
const four = ['1', '2', '3', '4'].map((keyId) => added(keyId))

t.test('at most five', async (t) => {
  const given = deciding(t, keyring)
  const add = decideAddKey({ keyId: '6', expiresAt: null }, at)
  given(...four)
    .when(add)
    .emitsOnce(added('6'))
  given(...four, added('5', '2026-01-01T00:00:00.001Z'))
    .when(add)
    .refuses('key_limit_reached')
  given(...four, added('5'), dropped('2'))
    .when(add)
    .emitsOnce(added('6'))
  given(...four, added('5', at))
    .when(add)
    .emitsOnce(dropped('5'), added('6'))
})

t.test('dropping', async (t) => {
  const given = deciding(t, keyring)
  given(added('1')).when(decideDropKey('1')).emitsOnce(dropped('1'))
  given(added('1')).when(decideDropKey('2')).changesNothing()
})
