import type { Reached } from '../agents/agent-event.ts'
import type { Tool, ToolContext, ToolOutput } from '../agents/tool.ts'
import { credentialNamesIn } from '../domain/agent/credential-names.ts'
import type { ApiCallConfig } from '../domain/agent/events.ts'
import type { Clock } from '../ports/clock.ts'
import type { JsonSchemas } from '../ports/json-schemas.ts'
import { type Outbound, OutboundRefused } from '../ports/outbound.ts'
import type { CredentialHeaders, FilledHeaders } from './credential-headers.ts'
import { textOf } from './response-text.ts'
import { failure, functionName, success, ToolFault } from './results.ts'
import { definitionOf, policyOf } from './tool-policy.ts'
import { urlFrom, withQuery } from './url-template.ts'
import { paymentIn } from './x402.ts'

type Uses = {
  outbound: Outbound
  credentialHeaders: CredentialHeaders
  misfitOf: JsonSchemas['misfitOf']
  clock: Clock
  /**
   * One call with its redirects, and how much of its answer is read
   * (docs/contract/agents.md#api-calls).
   */
  totalMs?: number
  maxBytes?: number
}

type Request = { method: string; url: URL; headers: Record<string, string>; body?: string }

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
const reads = new Set(['GET', 'HEAD'])
const maxRedirects = 3
const longestExcerpt = 1_000

const requestOf = (
  method: string,
  { url, rest }: ReturnType<typeof urlFrom>,
  { headers }: FilledHeaders,
): Request => {
  const verb = method.toUpperCase()
  if (!methods.has(verb)) throw new ToolFault(`the method ${method} is not supported`)
  const common = { 'user-agent': 'reprise', accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const own = { ...common, ...Object.fromEntries(lower) }
  if (verb === 'GET' || verb === 'HEAD')
    return { method: verb, url: withQuery(url, rest), headers: own }
  if (Object.keys(rest).length === 0) return { method: verb, url, headers: own }
  const typed = { 'content-type': 'application/json', ...own }
  return { method: verb, url, headers: typed, body: JSON.stringify(rest) }
}

/** The request that a redirect asks for; undefined when the answer is none. @throws ToolFault */
const redirected = (request: Request, { status, headers }: Response): Request | undefined => {
  const location = headers.get('location')
  if (![301, 302, 303, 307, 308].includes(status) || !location) return undefined
  if (!URL.canParse(location, request.url.href)) throw new ToolFault('it redirects to no address')
  const url = new URL(location, request.url)
  const downgrade = request.url.protocol === 'https:' && url.protocol !== 'https:'
  if (url.host !== request.url.host || downgrade)
    throw new ToolFault('it redirects to another host, which is not followed')
  const { method } = request
  if (status !== 303 && (method !== 'POST' || status > 302)) return { ...request, url }
  if (method === 'HEAD') return { ...request, url }
  const {
    body: _,
    headers: { 'content-type': __, ...otherHeaders },
    ...rest
  } = request
  return { ...rest, url, method: 'GET', headers: otherHeaders }
}

/**
 * A custom HTTP call as an agent's tool (docs/contract/agents.md#api-calls). Arguments fill the
 * address; the remaining ones go into the query or, as JSON, into the body. A failure is a result
 * for the model. Values of headers are never part of a result.
 */
export const apiCalls = (uses: Uses) => {
  const {
    outbound,
    credentialHeaders,
    misfitOf,
    clock,
    totalMs = 30_000,
    maxBytes = 1_048_576,
  } = uses

  const responseTo = async (first: Request, signal: AbortSignal): Promise<Response> => {
    let request = first
    for (let followed = 0; ; followed++) {
      const { url, ...init } = request
      const response = await outbound.fetch(url, { ...init, signal })
      const next = redirected(request, response)
      if (!next) return response
      await response.body?.cancel()
      if (followed === maxRedirects) throw new ToolFault('it redirects too often')
      request = next
    }
  }

  const outputsOf = async (
    response: Response,
    { redacted }: FilledHeaders,
  ): Promise<ToolOutput[]> => {
    const { status, ok } = response
    const body = await textOf(response, maxBytes)
    if (ok) return [success(body.shown(redacted) || `HTTP ${status} without content`)]
    const excerpt = body.shown(redacted, longestExcerpt).trim()
    const result = failure(excerpt === '' ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`)
    const payment = status === 402 && paymentIn(response.headers, body.text, clock.id, redacted)
    if (!payment) return [result]
    const { message, network, total_amount } = payment
    return [{ payment }, failure(`payment is required: ${message} (${total_amount} on ${network})`)]
  }

  const called = async (
    config: ApiCallConfig,
    args: Readonly<Record<string, unknown>>,
    { turn, signal, idempotencyKey }: ToolContext,
  ): Promise<ToolOutput[]> => {
    const late = AbortSignal.timeout(totalMs)
    let reached: Reached | undefined
    const noted = (output: ToolOutput): ToolOutput =>
      reached && 'ok' in output ? { ...output, reached } : output
    try {
      const misfit = await misfitOf(turn.call.organizationId, config.parameters, args)
      if (misfit) throw new ToolFault(misfit.misfit)
      const key = config.idempotencyHeader && { [config.idempotencyHeader]: idempotencyKey }
      const target = urlFrom(config.url, args)
      const { host } = target.url
      const filled = await credentialHeaders({ ...config.headers, ...key }, host, turn.call)
      const request = requestOf(config.method, target, filled)
      const credentials = Object.values(config.headers).flatMap(credentialNamesIn)
      reached = { host, ...(credentials.length > 0 ? { credentials } : {}) }
      const response = await responseTo(request, AbortSignal.any([signal, late]))
      reached = { ...reached, httpStatus: response.status }
      return (await outputsOf(response, filled)).map(noted)
    } catch (error) {
      if (error instanceof ToolFault || error instanceof OutboundRefused)
        return [noted(failure(error.message))]
      const why = late.aborted ? `no answer within ${totalMs} ms` : 'it could not be reached'
      return [noted(failure(why))]
    }
  }

  return (config: ApiCallConfig): Tool => {
    const { name, description, parameters } = config
    return {
      spec: {
        name: functionName(name),
        description,
        parameters: { properties: {}, ...parameters, type: 'object' },
      },
      policy: policyOf(config, {
        effect: reads.has(config.method.toUpperCase()) ? 'read' : 'write',
        keyed: config.idempotencyHeader !== undefined,
      }),
      definition: definitionOf([
        config.method,
        config.url,
        Object.entries(config.headers),
        config.parameters,
        ...(config.idempotencyHeader ? [config.idempotencyHeader] : []),
      ]),
      async *run(args, context) {
        yield* await called(config, args, context)
      },
    }
  }
}
