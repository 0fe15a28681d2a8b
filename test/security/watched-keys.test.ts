import t from 'tap'
import { vault as vaultOf } from '../../src/security/vault.ts'
import { watchedKeys } from '../../src/security/watched-keys.ts'
import type { DataKeys } from '../../src/security/wrapped-keys.ts'

const held = (): DataKeys => {
  const keys = new Map<string, Uint8Array>()
  return {
    get: async (name) => keys.get(name),
    create: async (name, wrapped) => {
      keys.set(name, keys.get(name) ?? wrapped)
      return keys.get(name) ?? wrapped
    },
    destroy: async (name) => void keys.delete(name),
  }
}

t.test('who keeps keys elsewhere forgets those that are destroyed', async (t) => {
  const { keys, onDestroyed } = watchedKeys(held())
  const [here, there] = [vaultOf({ keys }), vaultOf({ keys })]
  onDestroyed(there.forget)
  const sealed = await here.seal('session:a/b', 'secret')
  t.equal(await there.open(sealed), 'secret')
  t.equal(await there.open(sealed), 'secret', 'kept in memory')
  await here.destroy('session:a/b')
  t.equal(await here.open(sealed), undefined)
  t.equal(await there.open(sealed), undefined)
})
