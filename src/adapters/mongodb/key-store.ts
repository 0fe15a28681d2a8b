import { KeyDestroyed, type KeyRecords, type KeyStore } from '../../ports/keys.ts'
import { isDuplicate, type Mongo, reaching } from './connect.ts'

/** A wrapped key in base64; a document without one marks a destroyed key. */
type StoredKey = { _id: string; wrapped?: string }

/** The record that names the accepted master keys, in base64. */
type StoredRecord = { _id: 'keys'; record: string }

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Data keys in MongoDB, each on a majority of the servers before it is used. */
export const mongoKeyStore = ({ db }: Pick<Mongo, 'db'>): KeyStore & KeyRecords => {
  const keys = db.collection<StoredKey>('reprise_keys')
  const records = db.collection<StoredRecord>('reprise_installation')
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
        const text = textOf(wrapped)
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

    record: () =>
      reaching(async () => {
        const document = await records.findOne({ _id: 'keys' }, { readConcern: 'majority' })
        return document ? Buffer.from(document.record, 'base64') : undefined
      }),

    replaceRecord: (from, to) =>
      reaching(async () => {
        const record = textOf(to)
        if (from) {
          const held = { _id: 'keys', record: textOf(from) } as const
          return (await records.updateOne(held, { $set: { record } })).matchedCount === 1
        }
        try {
          await records.insertOne({ _id: 'keys', record })
          return true
        } catch (error) {
          if (isDuplicate(error)) return false
          throw error
        }
      }),

    list: (after, limit) =>
      reaching(async () => {
        const documents = await keys
          .find(after === undefined ? {} : { _id: { $gt: after } }, { readConcern: 'majority' })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray()
        return documents.map((stored) => ({ name: stored._id, wrapped: read(stored) }))
      }),

    rewrap: (changes) =>
      reaching(async () => {
        if (changes.length === 0) return
        await keys.bulkWrite(
          changes.map(({ name, from, to }) => ({
            updateOne: {
              filter: { _id: name, wrapped: textOf(from) },
              update: { $set: { wrapped: textOf(to) } },
            },
          })),
          { ordered: false },
        )
      }),
  }
}
