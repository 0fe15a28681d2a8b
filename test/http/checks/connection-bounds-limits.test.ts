import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { boundConnection } from '../../../src/http/checks/connection-bounds.ts'
import { bufferBudget } from '../../../src/support/buffer-budget.ts'

/** A connection without a network; `starts` names the requests that have begun. */
const connection = (...bounds: Parameters<typeof boundConnection>) => {
  const socket = Object.assign(new EventEmitter(), {
    writableLength: 0,
    destroyed: false,
    pause: () => socket,
    resume: () => socket,
    destroy: () => {
      if (socket.destroyed) return
      socket.destroyed = true
      socket.emit('close')
    },
  })
  const bound = boundConnection(...bounds)
  const starts: string[] = []
  const closed: string[] = []
  return {
    socket,
    starts,
    closed,
    /** `queued`: its answer waits behind others, with so many bytes. */
    request(name: string, queued?: number) {
      const answer = Object.assign(new EventEmitter(), {
        socket: queued === undefined ? socket : null,
        writableLength: queued ?? 0,
        destroyed: false,
        destroy: () => {
          answer.destroyed = true
        },
      })
      answer.on('close', () => closed.push(name))
      const request = { socket, rawHeaders: [] } as unknown as IncomingMessage
      bound(request, answer as unknown as ServerResponse, () => starts.push(name))
      return answer
    },
  }
}

/** Pending requests begin in a later turn of the event loop. */
const turns = async () => {
  for (let n = 0; n < 5; n++) await setImmediate()
}

for (const [unsent, queued, isNext] of [
  [60, 40, true],
  [60, 41, false],
  [100, 0, true],
  [101, 0, false],
  [0, 100, true],
  [0, 101, false],
] as const)
  t.test(
    `with ${unsent} unsent and ${queued} queued of 100 bytes, the next request ${isNext ? 'begins' : 'waits'}`,
    async (t) => {
      const { socket, starts, request } = connection({ inFlight: 9, unsent: 100 })
      request('one')
      request('two', queued)
      socket.writableLength = unsent
      request('three')
      await turns()
      t.strictSame(starts, ['one', 'two', ...(isNext ? ['three'] : [])])
    },
  )

t.test('the next request begins once the first answer, or any other, has closed', async (t) => {
  const { starts, request } = connection({ inFlight: 2, unsent: 100 })
  const [first, second] = [request('one'), request('two')]
  request('three')
  request('four')
  await turns()
  t.strictSame(starts, ['one', 'two'])
  first.emit('close')
  await turns()
  t.strictSame(starts, ['one', 'two', 'three'])
  second.emit('close')
  second.emit('close')
  await turns()
  t.strictSame(starts, ['one', 'two', 'three', 'four'])
})

t.test('nothing begins on a closed connection, neither what waited nor what comes', async (t) => {
  const { starts, closed, request, socket } = connection({ inFlight: 2, unsent: 100 })
  request('one')
  request('two', 5)
  request('three')
  socket.destroy()
  request('four')
  await turns()
  t.strictSame(starts, ['one', 'two'])
  t.strictSame(closed, ['two'], 'an answer behind others is closed, the one that is sent by Node')
})

t.test(
  'all of a connection counts in the budget: requests, headers, unsent and queued',
  async (t) => {
    const buffers = bufferBudget(1_000_000)
    const { request, socket } = connection({ inFlight: 2, unsent: 100 }, { buffers })
    request('one')
    t.equal(buffers.held(), 0, 'the first request is free')
    socket.writableLength = 7
    const second = request('two', 5)
    t.equal(buffers.held(), 7 + 16_384 + 2 * 5)
    request('three')
    t.equal(buffers.held(), 7 + 2 * 16_384 + 2 * 5)
    second.emit('close')
    await turns()
    socket.destroy()
    t.equal(buffers.held(), 0, 'and nothing of a closed one')
  },
)
