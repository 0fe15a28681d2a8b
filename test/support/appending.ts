import { randomUUID } from 'node:crypto'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { START } from '../../src/ports/event-store.ts'
import { noted } from './noted.ts'

/**
 * A process to be killed: appends to the log at the given path until then, and says each append on
 * stdout once it is acknowledged. Every stream's key is created just before its first event.
 */
const [, , path = ''] = process.argv
try {
  const log = await openLog({ path })
  const store = embeddedEventStore(log)
  const keys = embeddedKeyStore(log)
  const worker = async () => {
    for (;;) {
      const stream = randomUUID()
      await keys.create(stream, Buffer.from(stream))
      let revision: number = START
      for (let n = 0; n < 5; n++) {
        const events = Array.from({ length: 1 + n }, () => noted('x'.repeat(n * 300)))
        const last = await store.append(stream, revision, events)
        revision = last.revision
        process.stdout.write(`${stream} ${revision} ${last.position} ${events.at(-1)?.id}\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
} catch (error) {
  process.stdout.write(`${error}\n`)
  process.exitCode = 3
}
