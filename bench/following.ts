import { setPriority } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { Pool } from 'undici'

/**
 * A process that opens a feed so many times, over HTTP, and says on its IPC channel when all are open;
 * asked again, how many writes and items each has got since, on average. Those who follow have other
 * machines: this process gives way to whoever asks for answers.
 */
const { FEED_URL = '', FEED_KEY = '', FOLLOWERS = '1' } = process.env
const count = Number(FOLLOWERS)
const { origin, pathname, search } = new URL(FEED_URL)
setPriority(10)
const pool = new Pool(origin, { connections: count })
let open = 0
let writes = 0
let items = 0

const follow = async () => {
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: pathname + search,
    headers: { 'x-api-key': FEED_KEY },
  })
  if (statusCode !== 200) throw new Error(`a feed was refused with ${statusCode}`)
  open++
  for await (const piece of body) {
    writes++
    items += String(piece).split('data: ').length - 1
  }
}
for (let n = 0; n < count; n++) follow().catch(() => process.exit(1))
while (open < count) await after(20)

const tell = () => {
  process.send?.({ writes: writes / count, items: items / count })
  writes = 0
  items = 0
}
process.on('message', tell)
process.once('disconnect', () => process.exit())
tell()
