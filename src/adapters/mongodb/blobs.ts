import { createHash, randomUUID } from 'node:crypto'
import { GridFSBucket, type GridFSFile } from 'mongodb'
import { type Blobs, BlobTooLarge } from '../../ports/blobs.ts'
import { type Mongo, reaching } from './connect.ts'

const bucketName = 'reprise_blobs'

/** Begins the name of a blob whose hash is not known yet. */
const unfinished = 'incoming:'

/**
 * Blobs in GridFS, each under its hash once it is whole. Two nodes that store the same bytes at
 * once leave two equal files of one name: one of them is read, and `remove` removes both.
 */
export const mongoBlobs = ({ db }: Pick<Mongo, 'db'>): Blobs => {
  const bucket = new GridFSBucket(db, { bucketName, writeConcern: { w: 'majority' } })

  const find = (hash: string): Promise<GridFSFile | undefined> =>
    reaching(async () => (await bucket.find({ filename: hash }).limit(1).toArray())[0])

  return {
    async put(bytes, maxBytes = Number.POSITIVE_INFINITY, nameOf = (hash) => hash) {
      const upload = bucket.openUploadStream(`${unfinished}${randomUUID()}`)
      const hash = createHash('sha256')
      let size = 0
      // The pending write is rejected with the same error.
      upload.on('error', () => undefined)
      try {
        for await (const part of bytes) {
          size += part.length
          if (size > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`)
          hash.update(part)
          await reaching(
            () =>
              new Promise<void>((resolve, reject) => {
                upload.write(part, (error) => (error ? reject(error) : resolve()))
              }),
          )
        }
        await reaching(
          () =>
            new Promise<void>((resolve, reject) => {
              upload.once('error', reject)
              upload.end(resolve)
            }),
        )
      } catch (error) {
        await upload.abort().catch(() => undefined)
        throw error
      }
      const name = nameOf(hash.digest('hex'))
      const known = await find(name)
      await reaching(() => (known ? bucket.delete(upload.id) : bucket.rename(upload.id, name)))
      return { name, size }
    },

    async size(name) {
      return (await find(name))?.length
    },

    async get(name, range) {
      const file = await find(name)
      if (!file) return undefined
      const part = range && {
        start: Math.min(range.start, file.length),
        end: Math.min(range.end + 1, file.length),
      }
      return bucket.openDownloadStream(file._id, part)
    },

    async remove(hash) {
      await reaching(async () => {
        for await (const { _id } of bucket.find({ filename: hash })) await bucket.delete(_id)
      })
    },
  }
}
