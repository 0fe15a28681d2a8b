import type { MessageView } from '../projections/messages.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'

type Uses = {
  messages: Pick<View<MessageView>, 'get'>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/** The id of a message's file: that of the message, and its place there. */
const partId = /^(.+)_\d{1,3}$/

/** The stored bytes of a message's file and their data key, for a signed link. */
export const findMessageFile =
  ({ messages, open }: Uses) =>
  async (id: string) => {
    const messageId = partId.exec(id)?.[1]
    const message = messageId === undefined ? undefined : await messages.get(messageId)
    const part = message?.parts?.find((candidate) => candidate.id === id)
    if (!message || !part) return undefined
    const { blob: hash, media_type: mediaType, kind, name } = part
    const filename = name && (await open(name))
    return {
      hash,
      mediaType,
      key: message.content.$sealed,
      // What a client sends under a type of its own choice is never shown by a browser.
      ...(kind === 'file' ? { download: filename ?? id } : {}),
    }
  }
