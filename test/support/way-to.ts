import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A load balancer to the first of several servers that accepts a connection. Returns its port. */
export const wayTo = async (t: Test, urls: () => readonly string[]): Promise<number> => {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  }
  const join = (near: Socket, [url, ...others]: readonly string[]): void => {
    if (!url) return void near.destroy()
    const far = connect(Number(new URL(url).port), '127.0.0.1')
    let connected = false
    far.on('error', () => connected || join(near, others))
    far.on('close', () => connected && near.destroy())
    far.on('connect', () => {
      connected = true
      keep(far)
      near.on('close', () => far.destroy())
      near.pipe(far).pipe(near)
    })
  }
  const server = createServer((near) => {
    keep(near)
    join(near, urls())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
