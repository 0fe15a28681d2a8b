import t from 'tap'
import {
  decideDelete,
  decideEraseCredentials,
  decideStore,
  requireCredentialValue,
  userCredentials,
} from '../../../src/domain/credential/credential.ts'
import type { CredentialEvent } from '../../../src/domain/credential/events.ts'
import { deciding } from '../../support/given.ts'

const data = (name: string) => ({
  name,
  value: { $sealed: 'credentials:org-1/user-1', box: 'b' },
  hosts: ['shop.example'],
})
const stored = (name: string): CredentialEvent<'CredentialStored'> => ({
  type: 'CredentialStored',
  data: data(name),
})
const rotated = (name: string): CredentialEvent<'CredentialRotated'> => ({
  type: 'CredentialRotated',
  data: data(name),
})
const deleted = (name: string): CredentialEvent<'CredentialDeleted'> => ({
  type: 'CredentialDeleted',
  data: { name },
})

t.test('storing', async (t) => {
  const given = deciding(t, userCredentials)
  const store = decideStore(data('TOKEN'))
  given().when(store).emits(stored('TOKEN'))
  given(stored('OTHER')).when(store).emits(stored('TOKEN'))
  given(stored('TOKEN')).when(store).emits(rotated('TOKEN'))
  given(stored('TOKEN'), rotated('TOKEN')).when(store).emits(rotated('TOKEN'))
  given(stored('TOKEN'), deleted('TOKEN')).when(store).emits(stored('TOKEN'))
})

t.test('names and numbers are bounded', async (t) => {
  const given = deciding(t, userCredentials)
  for (const name of ['', 'token', '1TOKEN', '_T', 'T-1', 'T T', 'É', `T${'0'.repeat(64)}`])
    given()
      .when(decideStore(data(name)))
      .refuses('invalid_input')
  given()
    .when(decideStore(data(`T${'0'.repeat(63)}`)))
    .emits(stored(`T${'0'.repeat(63)}`))
  const many = Array.from({ length: 100 }, (_, n) => stored(`T${n}`))
  given(...many)
    .when(decideStore(data('TOKEN')))
    .refuses('invalid_input')
  given(...many)
    .when(decideStore(data('T7')))
    .emits(rotated('T7'))
})

t.test('deleting', async (t) => {
  const given = deciding(t, userCredentials)
  given(stored('TOKEN')).when(decideDelete('TOKEN')).emitsOnce(deleted('TOKEN'))
  given(stored('TOKEN')).when(decideDelete('OTHER')).refuses('credential_not_found')
  given(stored('TOKEN'), deleted('TOKEN'))
    .when(decideDelete('TOKEN'))
    .refuses('credential_not_found')
})

t.test('a value fits into one header', async (t) => {
  for (const text of ['x', 'a b', '~'.repeat(8_192)])
    t.doesNotThrow(() => requireCredentialValue(text))
  for (const text of ['', ' a', 'a ', 'a\nb', 'é', 'x'.repeat(8_193)])
    t.throws(() => requireCredentialValue(text), {
      code: 'invalid_input',
      facts: { field: 'value' },
    })
})

t.test('erases all values, deleted ones too', async (t) => {
  const given = deciding(t, userCredentials)
  const by = {
    deletedBy: null,
    delegated: true,
    keyIds: ['credentials:org-1/user-1'],
    destroyedAt: '2026-01-01T00:00:05.000Z',
  }
  const erased = (...names: string[]): CredentialEvent<'CredentialsErased'> => ({
    type: 'CredentialsErased',
    data: { ...by, scope: ['credentials'], memories: 0, credentials: names.length, names },
  })
  const erase = decideEraseCredentials({ ...by, generation: 0 })
  given(stored('A'), stored('B')).when(erase).emitsOnce(erased('A', 'B'))
  given(stored('A'), deleted('A')).when(erase).emitsOnce(erased())
  given().when(erase).changesNothing()
  given(stored('A'), erased('A'), stored('A')).when(erase).changesNothing()
  given(stored('A'), erased('A'))
    .when(decideStore(data('A'), 1))
    .emits(stored('A'))
  given(stored('A'), erased('A'))
    .when(decideStore(data('A'), 0))
    .changesNothing()
})
