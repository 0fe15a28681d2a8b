import type { FastifyBaseLogger } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import type { Access, FindAccess } from '../../security/access.ts'
import { requireScopes } from '../../security/scopes.ts'
import type { WatchAccess } from '../../security/watch-access.ts'
import type { RequestCredentials } from '../checks/authenticate.ts'
import { noteRefusedFrame, type Refusing } from '../errors/noted.ts'
import { refusalOf } from '../errors/reply.ts'
import { type About, aboutOf, encode, errorFrame, fieldsOf, jsonOf, typeOf } from './codec.ts'
import type { SocketConnection } from './connection.ts'
import { type IncomingType, incoming } from './frames.ts'
import { type RequestUses, requests } from './requests.ts'

export type ConversationUses = RequestUses &
  Refusing & {
    findAccess: FindAccess
    watchAccess: WatchAccess
    log: Pick<FastifyBaseLogger, 'error'>
  }

/** The credentials that a client connected with, and the access found for them. */
type Opening = { credentials: RequestCredentials; access: Access | undefined }

/** Close codes: no valid key; a key that lost scopes. Applications may use 4000 to 4999. */
const unauthorized = 4401
const narrowed = 4403
const ofTheKey: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'invalid_session',
  'organization_access_denied',
])

/**
 * One client's conversation. Frames are handled in order; their turns and uploads run concurrently.
 * The key is checked for every frame that needs one, and watched in between. A key that is invalid
 * or loses scopes ends the connection; any other refusal is an error frame.
 */
export const conversation = (
  uses: ConversationUses,
  connection: SocketConnection,
  opening: Opening,
) => {
  const { findAccess, watchAccess, log } = uses
  let { credentials, access: last } = opening
  let unwatch: () => void = () => undefined
  let lastFrame: Promise<void> = Promise.resolve()

  const refuse = (error: unknown, about: About, frame?: unknown): void => {
    const problem = refusalOf(error, 'chat') ?? refusal('internal_error')
    if (problem.code === 'internal_error') log.error({ err: error }, 'a frame failed')
    connection.send(errorFrame(problem, about))
    noteRefusedFrame(uses, problem, last, frame)
    if (ofTheKey.has(problem.code)) connection.close(unauthorized, 'The API key is not valid')
  }

  const access = async (): Promise<Access> => {
    const { apiKey, organizationId, consoleToken } = credentials
    last = await findAccess(apiKey, organizationId, consoleToken)
    return last
  }

  /** From now on the connection ends when the key that opened it is lost, or loses scopes. */
  const watch = ({ organizationId }: Access): void => {
    unwatch()
    const { apiKey, consoleToken } = credentials
    unwatch = watchAccess(
      { apiKey, consoleToken, organizationId },
      {
        require: (access) => requireScopes(access, [...(last?.scopes ?? [])]),
        lost(refusal) {
          refuse(refusal, {})
          if (!ofTheKey.has(refusal.code)) connection.close(narrowed, 'The API key has lost scopes')
        },
      },
    )
  }

  const welcome = ({ organizationId }: Access, about?: About): void =>
    connection.send(encode('authenticated', { organization_id: organizationId }, about))

  const admitted = (access: Access, about?: About): void => {
    if (connection.gone.aborted) return
    watch(access)
    welcome(access, about)
  }

  const clientRequests = requests(uses, { connection, access, refuse })

  const handlers: Record<IncomingType, (frame: unknown, about: About) => Promise<void>> = {
    async auth(frame, about) {
      const { api_key: apiKey, organization_id } = fieldsOf(incoming.auth, frame)
      const organizationId = organization_id ?? opening.credentials.organizationId
      credentials = { apiKey, organizationId }
      admitted(await access(), about)
    },
    message: clientRequests.message,
    cancel: clientRequests.cancel,
    file: clientRequests.file,
    ping: async (_frame, about) => connection.send(encode('pong', {}, about)),
  }

  const handle = async (text: string | undefined): Promise<void> => {
    let about: About = {}
    let frame: unknown
    try {
      if (text === undefined) throw refusal('invalid_input', { message: 'A frame is JSON text' })
      frame = jsonOf(text)
      about = aboutOf(frame)
      await handlers[typeOf(frame)](frame, about)
    } catch (error) {
      refuse(error, about, frame)
    }
  }

  if (last) admitted(last)

  return {
    /** Takes a frame, in order. Undefined: it was not text. Never rejects. */
    take(text: string | undefined): Promise<void> {
      lastFrame = lastFrame.then(() => (connection.gone.aborted ? undefined : handle(text)))
      return lastFrame
    },
    /** The key that was used last, for the log. */
    get speaker() {
      return { organizationId: last?.organizationId, keyId: last?.keyId }
    },
    /** Whether a key was accepted. */
    isKnown: (): boolean => last !== undefined,
    /** The connection has ended. */
    gone: (): void => unwatch(),
    /** Ends the connection unless the client has authenticated. */
    expire(): void {
      if (credentials.apiKey || credentials.consoleToken) return
      refuse(refusal('missing_api_key', { message: 'No API key was sent in time' }), {})
      connection.close(unauthorized, 'No API key')
    },
    /** Refuses further messages; resolves when the turns that were begun here have ended. */
    async stop(): Promise<void> {
      clientRequests.stop()
      await lastFrame
      await clientRequests.ended()
    },
    /** Resolves when everything has been answered. */
    answered: clientRequests.answered,
  }
}
