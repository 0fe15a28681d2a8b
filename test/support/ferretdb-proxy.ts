import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { BSON, MongoClient } from 'mongodb'

const batchSize = Buffer.from('\x10maxWriteBatchSize\0', 'latin1')
const dropTarget = Buffer.from('\x08dropTarget\0\x01', 'latin1')
/** The header of an OP_MSG, its flags, and the kind of its first section. */
const bodyAt = 21

/** The messages of the wire protocol in a stream of bytes, each with its length in front. */
const messages = (take: (message: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes: Buffer): void => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0)
      take(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  }
}

/**
 * A way to a FerretDB 1 that makes up for two things that MongoDB has and it has not. It announces
 * that a command may have 50 writes, as FerretDB hangs on some hundred. And before a collection is
 * renamed over another one, it drops that one; so readers may see neither for a moment.
 */
export const ferretdbProxy = async (url: string): Promise<string> => {
  const { hostname, port } = new URL(url)

  const droppedTarget = async (message: Buffer): Promise<void> => {
    const command = BSON.deserialize(message.subarray(bodyAt))
    const [database = '', ...collection] = String(command.to).split('.')
    const client = new MongoClient(url)
    await client.db(database).dropCollection(collection.join('.'))
    await client.close()
    message[message.indexOf(dropTarget) + dropTarget.length - 1] = 0
  }

  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const)
      socket.on('error', () => peer.destroy()).on('close', () => peer.destroy())

    let sent = Promise.resolve()
    const toServer = messages((message) => {
      sent = sent.then(async () => {
        if (message.includes(dropTarget)) await droppedTarget(message)
        far.write(message)
      })
    })
    const toClient = messages((message) => {
      const at = message.indexOf(batchSize)
      if (at !== -1) message.writeInt32LE(50, at + batchSize.length)
      near.write(message)
    })
    near.on('data', toServer)
    far.on('data', toClient)
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxied.href
}
