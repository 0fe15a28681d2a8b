import { raw } from '../../support/raw.ts'
import { connect } from '../../support/socket.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const json = { 'content-type': 'application/json' }
const many = (count: number, item: string) => `[${`${item},`.repeat(count - 1)}${item}]`
/** The most that an answer to them says, in characters. */
const shortAnswer = 16_384

/** Values that are cheap to send, and each of which a validator has an error for. */
export const wideJson: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const { key } = await organization.key({
    type: 'user',
    scopes: [
      'admin:read',
      'admin:write',
      'agents:invoke',
      'agents:list',
      'orchestrator:invoke',
      'orchestrator:stream',
      'sessions:read',
    ],
  })
  const admin = `/api/admin/organizations/${organization.organizationId}`
  const ask = raw(server.url)
  const headers = { ...json, 'x-api-key': key }
  const refused = async (path: string, body?: string, more = {}) => {
    const method = body === undefined ? 'GET' : 'POST'
    const init = { method, headers: { ...headers, ...more }, ...(body ? { body } : {}) }
    const answer = expect(await ask(path, init), 400)
    if (answer.text.length > shortAnswer)
      throw new Error(`${path} answers ${answer.text.length} characters`)
  }
  const unknown = Array.from({ length: 60_000 }, (_, n) => `"f${n}":0`).join()
  const query = Array.from({ length: 3_000 }, (_, n) => `p${n.toString(36)}`).join('&')
  const zeros = many(199_000, '0')
  const message = `{"role":"user","content":${zeros}}`
  const chat = '/api/external/v1/chat/completions'
  const mcp = { accept: 'application/json, text/event-stream' }
  const client = `{"name":"a","version":"1","icons":${zeros}}`
  const params = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":${client}}`
  const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`
  return async () => {
    await refused(`${admin}/agents`, `{"name":"Wide",${unknown}}`)
    await refused(`${admin}/agents`, `{"name":"Wide","tools":${many(9_000, '{}')}}`)
    for (const path of ['/api/external/sessions', `${admin}/agents`, `${admin}/api-keys`])
      await refused(`${path}?${query}`)
    await refused(chat, `{"messages":[${message}]}`)
    await refused(chat, `{"messages":${many(40_000, '0')}}`)
    await refused(chat, `{"messages":${many(9_000, '{"role":"user","content":[0]}')}}`)
    await refused('/api/external/v1/responses', `{"input":[${message}]}`)
    await refused('/api/external/v1/responses', `{"input":${many(40_000, '0')}}`)
    await refused('/api/external/mcp', initialize, mcp)
    const socket = await connect(server.url, { 'x-api-key': key })
    await socket.until('authenticated')
    socket.send(`{"type":"message","content":${zeros}}`)
    const error = (await socket.until('error')).at(-1)?.error
    expect({ status: error?.code === 'too_complex' ? 400 : 0, body: error }, 400)
    socket.ws.close()
  }
}
