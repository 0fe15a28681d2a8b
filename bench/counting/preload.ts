import { createHook } from 'node:async_hooks'
import crypto from 'node:crypto'
import { register, syncBuiltinESMExports } from 'node:module'
import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Observable, Subscriber } from 'rxjs'
import { type Counters, countCalls, counters, reset } from './counters.ts'

/**
 * `start with promises` counts them too, which makes everything slower; `counts` asks for
 * what was counted since, also after `stop`; `held` asks what is kept.
 */
export type CountingCommand = 'start' | 'start with promises' | 'stop' | 'counts' | 'held'

/** `bytes` were allocated on V8's heap. */
export type Counted = Counters & { bytes: number }

/** What the process keeps once its garbage is collected. */
export type Held = {
  /** Bytes of V8's heap, and of buffers beside it. */
  heap: number
  /** Timers, and open handles besides, by their kind. */
  resources: Readonly<Record<string, number>>
}

/**
 * Loaded before the product, it counts what the product does between `start` and `stop`, which it
 * is told on the IPC channel, and answers the counts.
 */
register('./hooks.js', import.meta.url)
countCalls(crypto, ['createHash', 'createHmac', 'hash'], 'hashes')
countCalls(crypto, ['createCipheriv', 'createDecipheriv'], 'ciphers')
syncBuiltinESMExports()
countCalls(JSON, ['parse'], 'parses')
countCalls(JSON, ['stringify'], 'stringifies')
countCalls(Observable.prototype, ['subscribe'], 'subscriptions')
countCalls(Subscriber.prototype, ['next'], 'hops')
countCalls(globalThis, ['setTimeout', 'setInterval', 'setImmediate'], 'timers')

const promises = createHook({
  init(_, type) {
    if (type === 'PROMISE') counters.promises++
  },
})

let collections = new GCProfiler()
let heapBefore = 0

const start = (): void => {
  reset()
  collections = new GCProfiler()
  collections.start()
  heapBefore = getHeapStatistics().used_heap_size
}

/** What is there and what was collected. */
const allocated = (): number => {
  let bytes = getHeapStatistics().used_heap_size - heapBefore
  for (const { beforeGC, afterGC } of collections.stop().statistics)
    bytes += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize
  return bytes
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const held = (): Held => {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  return { heap: heapUsed + arrayBuffers, resources }
}

process.on('message', (command: CountingCommand) => {
  if (command === 'held') process.send?.(held())
  else if (command === 'counts') process.send?.({ ...counters })
  else if (command === 'stop') {
    const counted: Counted = { ...counters, bytes: allocated() }
    promises.disable()
    process.send?.(counted)
  } else {
    if (command === 'start with promises') promises.enable()
    start()
    process.send?.(command)
  }
})
process.channel?.unref()
