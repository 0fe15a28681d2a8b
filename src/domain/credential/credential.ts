import { type Aggregate, streamOf } from '../aggregate.ts'
import {
  afterErasure,
  type Destroyed,
  inUse,
  isDestroyed,
  type KeyUse,
  ofKey,
  unused,
} from '../erasure.ts'
import { refusal } from '../refusal.ts'
import type { Sealed } from '../sealed.ts'
import { credentialLimit } from './credential-limit.ts'
import { type CredentialEvent, credentialEvents } from './events.ts'

export const credentialName = /^[A-Z][A-Z0-9_]{0,63}$/

/** What fits into one HTTP header. */
const credentialValue = /^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/

export const isCredentialValue = (text: string): boolean => credentialValue.test(text)

/** @throws invalid_input */
export const requireCredentialValue = (text: string): void => {
  if (!isCredentialValue(text))
    throw refusal('invalid_input', {
      message: 'A credential is 1 to 8192 printable ASCII characters, none of the ends a space',
      field: 'value',
    })
}

/** The names that have a value. */
export type UserCredentials = { names: readonly string[]; key: KeyUse }

/** One user's credentials in one organization. */
export const userCredentials: Aggregate<UserCredentials, typeof credentialEvents> = {
  category: 'credentials',
  events: credentialEvents,
  initial: { names: [], key: unused },
  stateVersion: 2,
  evolve: {
    CredentialStored: ({ names, key }, { name }) => ({
      names: [...names, name],
      key: inUse(key),
    }),
    CredentialRotated: (state) => state,
    CredentialDeleted: ({ names, key }, { name }) => ({
      names: names.filter((other) => other !== name),
      key,
    }),
    CredentialsErased: ({ key }) => ({ names: [], key: afterErasure(key) }),
  },
}

export const credentialsStream = (organizationId: string, userId: string) =>
  streamOf(userCredentials, organizationId, userId)

/**
 * Stores a value, or puts it in the place of an earlier one. Nothing is stored if the key that the
 * value is sealed under, of that `generation`, was destroyed. @throws invalid_input
 */
export const decideStore =
  (data: { name: string; value: Sealed; hosts?: string[] }, generation = 0) =>
  ({
    names,
    key,
  }: UserCredentials): CredentialEvent<'CredentialStored' | 'CredentialRotated'>[] => {
    if (key.generation !== generation) return []
    if (!credentialName.test(data.name))
      throw refusal('invalid_input', {
        message: 'A credential is named in capitals, digits and _, beginning with a letter',
        field: 'name',
      })
    if (names.includes(data.name)) return [{ type: 'CredentialRotated', data }]
    if (names.length >= credentialLimit)
      throw refusal('invalid_input', {
        message: `A user has at most ${credentialLimit} credentials`,
      })
    return [{ type: 'CredentialStored', data }]
  }

/** @throws credential_not_found */
export const decideDelete =
  (name: string) =>
  ({ names }: UserCredentials): CredentialEvent<'CredentialDeleted'>[] => {
    if (!names.includes(name)) throw refusal('credential_not_found')
    return [{ type: 'CredentialDeleted', data: { name } }]
  }

/** Erases all credentials, deleted ones too. */
export const decideEraseCredentials =
  (destroyed: Destroyed) =>
  ({ names, key }: UserCredentials): CredentialEvent<'CredentialsErased'>[] => {
    if (!isDestroyed(key, destroyed)) return []
    const count = { credentials: names.length }
    const data = { ...ofKey('credentials', destroyed, count), names: [...names] }
    return [{ type: 'CredentialsErased', data }]
  }
