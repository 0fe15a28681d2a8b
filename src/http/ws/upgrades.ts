import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

const hopByHop = /^(upgrade|http2-settings)$/i

/** A request's head without the headers that ask for an upgrade. */
const headOf = ({ method, url, httpVersion, rawHeaders }: IncomingMessage): string => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const [name = '', value = ''] = rawHeaders.slice(n, n + 2)
    const connection = name.toLowerCase() === 'connection'
    const options = value.split(',').filter((option) => !hopByHop.test(option.trim()))
    if (!hopByHop.test(name)) lines.push(`${name}: ${connection ? options.join(',') : value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

/**
 * The upgrades to WebSocket at one path, as events of a server that never listens. Node treats
 * every request that asks for an upgrade as one, and drops its body: all others are read again
 * without that header, as RFC 9110 (section 7.8) allows. Java's client asks for h2c that way.
 */
export const upgradesAt = (path: string, http: Server): Server => {
  const ours = createServer()
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, rest: Buffer) => {
    const [pathname] = request.url?.split('?', 1) ?? []
    const isOurs = request.headers.upgrade?.toLowerCase() === 'websocket'
    if (isOurs && (pathname === path || pathname === `${path}/`)) {
      ours.emit('upgrade', request, socket, rest)
      return
    }
    socket.unshift(rest)
    socket.unshift(Buffer.from(headOf(request), 'latin1'))
    http.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket)
  })
  return ours
}
