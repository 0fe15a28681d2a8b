import type { Test } from 'tap'
import { user } from './client.ts'
import { startChat } from './server.ts'
import { json, web } from './web.ts'

type Options = Parameters<typeof startChat>[2]

export const refundCall = { name: 'refund', arguments: { order: 'A-1', amount: 20 } }

/**
 * A chat over a scripted provider, whose agent has a tool that needs approval, and the tool's
 * server.
 */
export const approvalScene = async (
  t: Test,
  care: object = {},
  options?: Options,
  otherHost?: string,
) => {
  const site = await web(t, ({ body }, response) => json(response, { refunded: JSON.parse(body) }))
  const env = { API_CALL_ALLOW_HOSTS: [site.host, otherHost].filter(Boolean).join(',') }
  const chat = await startChat(t, { text: 'Done.' }, options, env)
  const { organization, provider } = chat
  const refund = {
    type: 'api_call',
    name: 'refund',
    method: 'POST',
    url: `${site.url}/refunds`,
    parameters: { type: 'object' },
    requires_approval: true,
    ...care,
  }
  const shop = await organization.agent({ name: 'Shop', tools: [refund] })
  const key = await organization.key({ type: 'user', user_id: organization.ownerId })
  const approvals = '/api/external/approvals'
  /** A member of the organization with a plan and credits of her own, and her key. */
  const member = async () => {
    const { server } = chat
    const id = await organization.member()
    await server.platform.ask('PUT', `/users/${id}/subscription`, { plan: 'pro_monthly' })
    await server.platform.ask('POST', `/users/${id}/credits`, { amount: 10, reason: 'test' })
    return { id, key: await organization.key({ type: 'user', user_id: id }) }
  }
  return {
    ...chat,
    key,
    site,
    refund,
    shop,
    member,
    /** A turn in which the model calls `refund`; its whole answer. */
    async requestRefund(session_id: string, by = key) {
      provider.next({ text: 'Let me see. ', calls: [refundCall] })
      return by.chat({ model: shop, session_id, messages: user('Refund A-1') })
    },
    list: (query = '', by = key) => by.ask('GET', `${approvals}${query}`),
    get: (id: string, by = key, query = '') => by.ask('GET', `${approvals}/${id}${query}`),
    decide: (
      { approval_id, arguments_digest }: { approval_id: string; arguments_digest: string },
      decision: 'approve' | 'deny',
      more: object = {},
      by = key,
    ) => by.ask('POST', `${approvals}/${approval_id}`, { decision, arguments_digest, ...more }),
  }
}
