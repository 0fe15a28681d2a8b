import type { KeyStore } from '../ports/keys.ts'

/** A key store that tells whoever keeps keys in memory elsewhere which of them are destroyed. */
export const watchedKeys = <Keys extends Pick<KeyStore, 'destroy'>>(keys: Keys) => {
  const watchers = new Set<(name: string) => void>()
  const watched: Keys = {
    ...keys,
    async destroy(name: string) {
      await keys.destroy(name)
      for (const notify of watchers) notify(name)
    },
  }
  return {
    keys: watched,
    onDestroyed: (notify: (name: string) => void) => void watchers.add(notify),
  }
}
