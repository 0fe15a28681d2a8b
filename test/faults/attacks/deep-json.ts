import { raw } from '../../support/raw.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const json = { 'content-type': 'application/json' }

/** Bodies that are deep, or hold very many values; parameters of tools that no view could hold. */
export const deepJson: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const { key } = await organization.key({
    type: 'user',
    scopes: ['admin:read', 'admin:write', 'orchestrator:invoke'],
  })
  return async () => {
    const post = (path: string, body: string, headers = {}) =>
      raw(server.url)(path, { method: 'POST', body, headers: { ...json, ...headers } })
    const agents = `/api/admin/organizations/${organization.organizationId}/agents`
    const tool = '"type":"api_call","name":"deep","method":"GET","url":"https://api.invalid/"'
    for (const levels of [60, 2_500]) {
      const body = `{"name":"Deep","tools":[{${tool},"parameters":${nested(levels)}}]}`
      const { headers } = expect(await post(agents, body, { 'x-api-key': key }), 400)
      expect({ status: headers['x-error-code'] === 'too_complex' ? 200 : 0, body: headers }, 200)
    }
    const bodies = ['['.repeat(9_000_000), `[${'1,'.repeat(4_000_000)}1]`, nested(1_000_000)]
    const chat = '/api/external/v1/chat/completions'
    // A client without a key is answered before its body is read, and may not get to read that.
    const refused = { status: 401 }
    for (const body of bodies)
      await Promise.all([
        post(chat, body).then(
          (reply) => expect(reply, 401),
          () => refused,
        ),
        post(chat, body, { 'x-api-key': key }).then((reply) => expect(reply, 400)),
      ])
  }
}
