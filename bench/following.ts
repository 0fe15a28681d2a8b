import { setPriority } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { Pool } from 'undici'

/**
 * Opens a feed FOLLOWERS times over HTTP and reports on its IPC channel when all are open. Each
 * message is answered with the average number of writes and items since the last report. Real
 * followers run on other machines, so this process has a low priority.
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

const report = () => {
  process.send?.({ writes: writes / count, items: items / count })
  writes = 0
  items = 0
}
process.on('message', report)
process.once('disconnect', () => process.exit())
report()
