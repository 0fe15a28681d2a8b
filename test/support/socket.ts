import { once } from 'node:events'
import { WebSocket } from 'ws'
import { outgoing } from '../../src/http/ws/frames.ts'

export type Sent = {
  type: keyof typeof outgoing
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  [field: string]: any
}

const parsed = (text: string): Sent => {
  const frame = JSON.parse(text)
  if (!(frame.type in outgoing)) throw new Error(`an unknown frame: ${text}`)
  outgoing[frame.type as Sent['type']].parse(frame)
  return frame
}

export const channelOf = (url: string): URL => new URL('/ws/chat', url.replace(/^http/, 'ws'))

/** A client on the channel; every frame that it is sent must be one that is documented. */
export const connect = async (url: string, headers: Record<string, string> = {}) => {
  const ws = new WebSocket(channelOf(url), { headers })
  const frames: Sent[] = []
  const wanted: (() => void)[] = []
  let read = 0
  let failure: unknown
  const wake = () => {
    for (const resume of wanted.splice(0)) resume()
  }
  ws.on('message', (data) => {
    try {
      frames.push(parsed(data.toString()))
    } catch (error) {
      failure = error
    }
    wake()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  ws.once('close', wake)
  await once(ws, 'open')

  const next = async (): Promise<Sent> => {
    while (read === frames.length) {
      if (failure) throw failure
      if (ws.readyState === WebSocket.CLOSED) throw new Error('the socket closed before that')
      await new Promise<void>((resolve) => wanted.push(resolve))
    }
    return frames[read++] as Sent
  }

  return {
    ws,
    /** Resolves with the close code and reason. */
    closed,
    next,
    send: (frame: unknown) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    /** Frames up to the first of this type that fits, which is the last. */
    async until(type: Sent['type'], fits: (frame: Sent) => boolean = () => true) {
      const seen: Sent[] = []
      for (;;) {
        const frame = await next()
        seen.push(frame)
        if (frame.type === type && fits(frame)) return seen
        if (frame.type === 'error' && type !== 'error') throw new Error(JSON.stringify(frame))
      }
    },
    close: () => ws.close(),
  }
}

export const textIn = (frames: readonly Sent[]): string =>
  frames.flatMap(({ type, token }) => (type === 'stream_token' ? [token] : [])).join('')
