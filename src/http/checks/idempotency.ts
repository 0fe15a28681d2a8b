import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preHandlerHookHandler,
  RouteOptions,
} from 'fastify'
import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import { sealed } from '../../domain/sealed.ts'
import type { Answers, Claim, StoredAnswer } from '../../ports/answers.ts'
import type { Clock } from '../../ports/clock.ts'
import { KeyDestroyed } from '../../ports/keys.ts'
import { callerOf } from '../../security/access.ts'
import { organizationKey, sessionKey, type Vault } from '../../security/vault.ts'

/** How often a repeated request checks whether the first one has been answered. */
const pollMs = 50
const saneKey = /^[\x21-\x7e]{1,255}$/

export type IdempotencyUses = {
  answers: Answers
  vault: Vault
  clock: Clock
  /** This process's life. */
  node: string
}

/** A stored answer: its body, or the run that was streamed. */
const storedBody = z.union([z.object({ body: z.string() }), z.object({ run: z.string() })])

declare module 'fastify' {
  interface FastifyRequest {
    /** The session that the answer belongs to: its key seals the stored answer. */
    answersFor: string | undefined
    /** The run that is streamed as the answer. */
    streamedRun: string | undefined
    /** The answer is not stored under an idempotency key. */
    isTransient: boolean
    /** The first request with its idempotency key was under way when this one came. */
    hasWaited: boolean
    /** A hash of its idempotency key, while this request is the first with it. */
    heldIdempotencyKey: string | undefined
    /**
     * Set where an earlier request with its idempotency key was streamed or cut off. Called when
     * the turn of that request answers this one too.
     */
    onRepeated: (() => void) | undefined
  }
}

const methodsOf = ({ method }: RouteOptions) => [method].flat()

const digest = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\n')
  return hash.digest('base64url')
}

const answerKeyOf = ({ headers, access }: FastifyRequest): string | undefined => {
  const key = headers['idempotency-key']
  if (typeof key !== 'string' || key === '' || !access) return undefined
  if (!saneKey.test(key))
    throw refusal('invalid_input', {
      field: 'Idempotency-Key',
      message: 'Idempotency-Key has 1 to 255 printable ASCII characters',
    })
  return digest(callerOf(access), access.organizationId, key)
}

const markReplayed = (reply: FastifyReply): void => {
  reply.header('idempotency-replayed', 'true')
}

/** Claims a key; waits while another request with it is under way. */
const claimKey = async (
  { answers, node, clock }: IdempotencyUses,
  scope: string,
  fingerprint: string,
  request: FastifyRequest,
): Promise<Claim> => {
  for (;;) {
    const claim = await answers.claim(scope, fingerprint, node, clock.now())
    if (claim.state !== 'running') return claim
    if (request.raw.socket.destroyed) throw refusal('service_unavailable')
    request.hasWaited = true
    await delay(pollMs)
  }
}

/** Sends the stored answer, or names the run that was streamed. Answers whether it was sent. */
const replay = async (
  { vault }: IdempotencyUses,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: StoredAnswer,
): Promise<boolean> => {
  const text = await vault.open(sealed.parse(JSON.parse(body)))
  if (text === undefined) throw refusal('session_not_found')
  const answer = storedBody.parse(JSON.parse(text))
  if ('body' in answer) {
    markReplayed(reply)
    reply.code(status).headers(headers).send(answer.body)
    return true
  }
  request.streamedRun = answer.run
  request.onRepeated = () => markReplayed(reply)
  return false
}

/** Claims the key of a request. Answers whether an earlier answer was sent for it. */
const repeatAnswer = async (
  uses: IdempotencyUses,
  scope: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> => {
  const fingerprint = digest(request.method, request.url, request.bodyIdentity ?? '')
  const claim = await claimKey(uses, scope, fingerprint, request)
  if (claim.state === 'reused') throw refusal('idempotency_key_reused')
  if (claim.state === 'claimed') {
    request.heldIdempotencyKey = scope
    if (claim.takenOver) request.onRepeated = () => markReplayed(reply)
  }
  // The body counts too: after a failure the key may be used again with another body.
  request.call = { ...request.call, scope: digest(scope, fingerprint) }
  return claim.state === 'answered' && replay(uses, request, reply, claim.answer)
}

/** Stores the answer to the first request with a key; a failure releases the key. */
const storeAnswer = async (
  { answers, vault, clock, node }: IdempotencyUses,
  scope: string,
  { answersFor, streamedRun, isTransient, access }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<void> => {
  const ok = reply.statusCode < 300 && !isTransient
  const body = Buffer.isBuffer(payload) ? payload.toString() : payload
  if (!ok || (typeof body !== 'string' && !streamedRun)) {
    await answers.release(scope, node)
    return
  }
  const { organizationId } = access
  const keyName = answersFor
    ? sessionKey(organizationId, answersFor)
    : organizationKey(organizationId)
  const answer = streamedRun ? { run: streamedRun } : { body }
  const headers = { 'content-type': String(reply.getHeader('content-type')) }
  try {
    const sealedAnswer = JSON.stringify(await vault.seal(keyName, JSON.stringify(answer)))
    const stored = { status: reply.statusCode, headers, body: sealedAnswer }
    await answers.complete(scope, node, stored, clock.now())
  } catch (error) {
    // Otherwise a repeated request would wait for ever.
    await answers.release(scope, node)
    if (!(error instanceof KeyDestroyed)) throw error
  }
}

/**
 * `Idempotency-Key` on any POST (docs/contract/requests.md#idempotency-keys): the first answer is
 * stored for 24 hours and sent again, also after a restart. Refusals and failures are not stored,
 * so a request can be repeated until it succeeds. Bodies are sealed; erasing a session erases its
 * answers too.
 */
export const idempotency = (http: FastifyInstance, uses: IdempotencyUses): void => {
  http.decorateRequest('isTransient', false)
  http.decorateRequest('hasWaited', false)
  http.decorateRequest('heldIdempotencyKey', undefined)
  http.decorateRequest('answersFor', undefined)
  http.decorateRequest('streamedRun', undefined)
  http.decorateRequest('onRepeated', undefined)

  // Without promises where there is no key, which is nearly always.
  const sendStored: preHandlerHookHandler = (request, reply, done) => {
    const scope = answerKeyOf(request)
    if (scope) repeatAnswer(uses, scope, request, reply).then((sent) => sent || done(), done)
    else done()
  }

  const store: onSendHookHandler = (request, reply, payload, done) => {
    const { heldIdempotencyKey: scope } = request
    if (!scope) return done(null, payload)
    request.heldIdempotencyKey = undefined
    storeAnswer(uses, scope, request, reply, payload).then(() => done(null, payload), done)
  }

  http.addHook('onRoute', (route) => {
    if (!methodsOf(route).includes('POST')) return
    route.preHandler = [sendStored, ...[route.preHandler ?? []].flat()]
    route.onSend = [store, ...[route.onSend ?? []].flat()]
  })
}
