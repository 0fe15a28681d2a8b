import type { Test } from 'tap'
import { guardedOutbound } from '../../src/adapters/outbound/guarded.ts'
import type { Tool } from '../../src/agents/tool.ts'
import type { Call } from '../../src/ports/call.ts'
import { credentialHeaders } from '../../src/tools/credential-headers.ts'
import { mcpTools } from '../../src/tools/mcp.ts'
import { call } from './recorded.ts'

export type McpLimits = Partial<
  Omit<Parameters<typeof mcpTools>[0], 'outbound' | 'credentialHeaders'>
>

export const secret = 'tok_5ecr3t-value'

/** Tools over loopback. user-1 and user-2 of org-1 have a TOKEN each. */
export const mcpScene = async (t: Test, limits: McpLimits = {}) => {
  const values = new Map([
    ['org-1/user-1/TOKEN', secret],
    ['org-1/user-2/TOKEN', `${secret}-of-another`],
  ])
  const outbound = guardedOutbound({ allowHosts: ['127.0.0.1'] })
  const hosts: string[] = []
  const find = async (...path: string[]) => {
    const value = values.get(path.join('/'))
    return value === undefined ? undefined : { value, hosts }
  }
  let now = 0
  const mcp = mcpTools({
    outbound,
    credentialHeaders: credentialHeaders({ findCredential: find }),
    clock: { now: () => new Date(now), monotonic: () => now },
    ...limits,
  })
  t.teardown(async () => {
    await mcp.close()
    await outbound.close()
  })
  const toolsAt = async (url: string, headers: Record<string, string> = {}, by: Call = call) => {
    if (URL.canParse(url)) hosts.push(new URL(url).host)
    const [server] = await mcp.toolsOf([{ name: 'Double', url, headers }], by)
    return server?.tools ?? []
  }
  const standingAt = (url: string) =>
    mcp.standingOf(call.organizationId, { name: 'Double', url, headers: {} })
  const advance = (ms: number) => {
    now += ms
  }
  return { mcp, toolsAt, standingAt, values, advance }
}

export const namesOf = (tools: readonly Tool[]) => tools.map(({ spec }) => spec.name)

export const toolNamed = (tools: readonly Tool[], name: string): Tool => {
  const tool = tools.find(({ spec }) => spec.name === name)
  if (!tool) throw new Error(`there is no tool ${name} among ${namesOf(tools).join(', ')}`)
  return tool
}
