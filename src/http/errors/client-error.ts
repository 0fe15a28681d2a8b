import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { refusal } from '../../domain/refusal.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import { jsonLine } from '../wire/json-line.ts'
import { bodyOf } from './bodies.ts'
import { refusalTable } from './refusal-table.ts'

const codes: Readonly<Record<string, RefusalCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
}

/**
 * Refuses bytes that are not a valid request, and closes the connection, which cannot be parsed
 * further.
 */
export const refuseConnection =
  (newId: () => string) =>
  (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const code = codes[error.code ?? ''] ?? 'malformed_request'
    const { status } = refusalTable[code]
    const body = jsonLine(bodyOf(refusal(code), 'admin'))
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${newId()}`,
      `X-Error-Code: ${code}`,
      'X-Content-Type-Options: nosniff',
      'Connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
