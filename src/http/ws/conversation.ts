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

/** Close codes: no key, or an invalid one; a key that lost scopes (4000 to 4999 are for applications). */
const unauthorized = 4401
const narrowed = 4403
const ofTheKey: ReadonlySet<string> = new Set(['invalid_api_key', 'organization_access_denied'])

/**
 * One client's conversation. Frames are taken one after the other, and their turns and uploads are
 * answered concurrently. The key is looked up for every frame that needs one, and watched meanwhile.
 * An invalid key ends the connection, and so does one that loses scopes; any other refusal is an
 * error frame.
 */
export const conversation = (
  uses: ConversationUses,
  connection: SocketConnection,
  opening: Opening,
) => {
  const { findAccess, watchAccess, log } = uses
  let { credentials, access: last } = opening
  let unwatch: () => void = () => undefined
  let taken: Promise<void> = Promise.resolve()

  const refuse = (error: unknown, about: About, frame?: unknown): void => {
    const told = refusalOf(error, 'chat') ?? refusal('internal_error')
    if (told.code === 'internal_error') log.error({ err: error }, 'a frame failed')
    connection.send(errorFrame(told, about))
    noteRefusedFrame(uses, told, last, frame)
    if (ofTheKey.has(told.code)) connection.close(unauthorized, 'The API key is not valid')
  }

  const access = async (): Promise<Access> => {
    last = await findAccess(credentials.apiKey, credentials.organizationId)
    return last
  }

  /** From now on the connection ends when the key that opened it is lost, or loses scopes. */
  const watch = ({ organizationId }: Access): void => {
    unwatch()
    unwatch = watchAccess(
      { apiKey: credentials.apiKey ?? '', organizationId },
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

  const asked = requests(uses, { connection, access, refuse })

  const handlers: Record<IncomingType, (frame: unknown, about: About) => Promise<void>> = {
    async auth(frame, about) {
      const { api_key: apiKey, organization_id } = fieldsOf(incoming.auth, frame)
      const organizationId = organization_id ?? opening.credentials.organizationId
      credentials = { apiKey, organizationId }
      admitted(await access(), about)
    },
    message: asked.message,
    cancel: asked.cancel,
    file: asked.file,
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
      taken = taken.then(() => (connection.gone.aborted ? undefined : handle(text)))
      return taken
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
      if (credentials.apiKey) return
      refuse(refusal('missing_api_key', { message: 'No API key was sent in time' }), {})
      connection.close(unauthorized, 'No API key')
    },
    /** Refuses further messages; resolves when the turns that were begun here have ended. */
    async stop(): Promise<void> {
      asked.stop()
      await taken
      await asked.ended()
    },
    /** Resolves when everything has been answered. */
    answered: asked.answered,
  }
}
