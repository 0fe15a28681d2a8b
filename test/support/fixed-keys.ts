import type { KeyObject } from 'node:crypto'
import { wrappedKeys } from '../../src/security/wrapped-keys.ts'

/** Data keys wrapped under one key that never changes. */
export const fixedKeys = (keys: Parameters<typeof wrappedKeys>[0], wrap: KeyObject) =>
  wrappedKeys(keys, { now: () => ({ wrap }), isFresh: () => true, refresh: async () => undefined })
