import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A way to a server that can be cut and restored. `to` is its port on this machine. */
export const relay = async (to: number) => {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  }
  const listening = async (port: number): Promise<Server> => {
    const server = createServer((near) => {
      const far = connect(to, '127.0.0.1')
      keep(near)
      keep(far)
      near.pipe(far).pipe(near)
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }

  let server = await listening(0)
  const { port } = server.address() as AddressInfo

  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    port,
    cut,
    async restore() {
      server = await listening(port)
    },
  }
}
