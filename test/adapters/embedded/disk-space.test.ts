import t from 'tap'
import { type DiskUse, openDiskSpace } from '../../../src/adapters/embedded/disk-space.ts'
import { StoreUnavailable } from '../../../src/ports/event-store.ts'

const megabyte = 1_048_576
const total = 800 * megabyte

/** A disk of 800 MiB with a reserve of 100 MiB, and what was logged of it. */
const opened = (freeMb: number) => {
  const disk = { free: freeMb * megabyte, looks: 0, time: 0, told: true }
  const lines: string[] = []
  const line = ({ use }: Readonly<Record<string, unknown>>, text: string) => {
    lines.push(`${use}: ${text.split(':')[0]}`)
  }
  const space = openDiskSpace({
    folder: '/data',
    log: { info: line, warn: line, error: line },
    spaceOf: () => {
      disk.looks++
      if (!disk.told) throw new Error('EIO')
      return { free: disk.free, total }
    },
    deviceOf: (path) => (path.startsWith('/data') ? 1 : 2),
    now: () => disk.time,
  })
  const takes = (use: DiskUse, path = '/data/one', bytes = 1_000) => {
    try {
      space.room(use, path)(bytes)
      return true
    } catch (error) {
      if (error instanceof StoreUnavailable) return false
      throw error
    }
  }
  return { disk, lines, space, takes }
}

t.test('the usual reserve is an eighth of the disk, from 8 to 256 MiB', async (t) => {
  const reserveOf = (sizeMb: number, reserve?: number) =>
    openDiskSpace({
      folder: '/data',
      reserve,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      spaceOf: () => ({ free: 0, total: sizeMb * megabyte }),
      deviceOf: () => 1,
    }).reserve / megabyte
  t.equal(reserveOf(10), 8)
  t.equal(reserveOf(96), 12)
  t.equal(reserveOf(1_000_000), 256)
  t.equal(reserveOf(1_000_000, 5 * megabyte), 5, 'unless it is configured')
})

for (const [freeMb, allowed] of [
  [201, ['files', 'events', 'rebuilds', 'views']],
  [199, ['events', 'rebuilds', 'views']],
  [101, ['events', 'rebuilds', 'views']],
  [99, ['views']],
  [51, ['views']],
  [49, []],
  [0, []],
] as const)
  t.test(`with ${freeMb} MiB free and a reserve of 100, these may write: ${allowed}`, async (t) => {
    const { takes } = opened(freeMb)
    const uses: DiskUse[] = ['files', 'events', 'rebuilds', 'views']
    t.strictSame(
      uses.filter((use) => takes(use)),
      allowed,
    )
  })

t.test('bytes written between two measurements count, whoever writes them', async (t) => {
  const { disk, takes } = opened(102)
  t.ok(takes('events', '/data/log', 0.9 * megabyte))
  t.equal(disk.looks, 2, 'at the start, and at the first write')
  disk.free = 0
  t.ok(takes('views', '/data/views', 0.05 * megabyte), 'not looked at again yet')
  t.equal(disk.looks, 2)
  t.notOk(takes('events', '/data/log', 0.1 * megabyte), 'more than 1 MiB since')
  t.equal(disk.looks, 3)
})

t.test('free space is measured again after 5 milliseconds', async (t) => {
  const { disk, takes } = opened(300)
  t.ok(takes('events'))
  disk.free = 0
  disk.time += 4
  t.ok(takes('events'))
  disk.time += 1
  t.notOk(takes('events'))
})

t.test('a write that would leave too little space is refused before it begins', async (t) => {
  const { takes } = opened(300)
  t.notOk(takes('events', '/data/log', 201 * megabyte))
  t.ok(takes('views', '/data/views', 1))
})

t.test(
  'a refused use begins and ends with one line, and needs an eighth more to end',
  async (t) => {
    const { disk, lines, takes } = opened(99)
    const after = (freeMb: number) => {
      disk.free = freeMb * megabyte
      disk.time += 5
      return takes('events')
    }
    for (const freeMb of [99, 90, 101, 112, 99]) t.notOk(after(freeMb), `${freeMb} MiB`)
    t.ok(after(113))
    t.ok(after(101))
    t.strictSame(lines, ['events: the disk is nearly full', 'events: the disk has space again'])
  },
)

t.test('reports the current state of the file system with the least space', async (t) => {
  const { disk, space, takes } = opened(99)
  t.notOk(takes('events'))
  t.notOk(takes('files', '/elsewhere'))
  t.match(space.state(), { free: 99 * megabyte, refused: ['events', 'files'] })
  disk.free = 300 * megabyte
  t.match(space.state(), { free: 300 * megabyte, reserve: 100 * megabyte, refused: [] })
})

t.test('refuses nothing if the system does not report free space', async (t) => {
  const { disk, takes } = opened(300)
  disk.told = false
  disk.time += 5
  t.ok(takes('files'))
})

t.test('a write that is too large for the disk refuses no other, and is not logged', async (t) => {
  const { lines, takes } = opened(105)
  t.notOk(takes('events', '/data/one', 50 * megabyte))
  t.ok(takes('events', '/data/one', megabyte))
  t.strictSame(lines, [])
})
