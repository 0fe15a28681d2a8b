import { KeyDestroyed, type KeyStore } from '../../ports/keys.ts'
import { isDuplicate, type Mongo, reaching } from './connect.ts'

/** A wrapped key in base64; a document without one marks a destroyed key. */
type StoredKey = { _id: string; wrapped?: string }

/** Data keys in MongoDB, each on a majority of the servers before it is used. */
export const mongoKeyStore = ({ db }: Pick<Mongo, 'db'>): KeyStore => {
  const keys = db.collection<StoredKey>('reprise_keys')
  const read = ({ wrapped }: StoredKey): Uint8Array | undefined =>
    wrapped === undefined ? undefined : Buffer.from(wrapped, 'base64')

  return {
    get: (name) =>
      reaching(async () => {
        const stored = await keys.findOne({ _id: name })
        return stored ? read(stored) : undefined
      }),

    some: () => reaching(async () => (await keys.findOne({ wrapped: { $exists: true } }))?._id),

    create: (name, wrapped) =>
      reaching(async () => {
        if (wrapped.length === 0) throw new TypeError('an empty key')
        const text = Buffer.from(wrapped).toString('base64')
        try {
          await keys.insertOne({ _id: name, wrapped: text })
          return Buffer.from(text, 'base64')
        } catch (error) {
          if (!isDuplicate(error)) throw error
        }
        const stored = await keys.findOne({ _id: name }, { readConcern: 'majority' })
        const held = stored ? read(stored) : undefined
        if (!held) throw new KeyDestroyed(name)
        return held
      }),

    destroy: (name) =>
      reaching(async () => {
        await keys.replaceOne({ _id: name }, {}, { upsert: true })
      }),
  }
}
