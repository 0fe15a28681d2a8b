import t from 'tap'
import { opening } from '../../src/support/disposal.ts'

/** Parts that note when they are closed; those named in `broken` reject. */
const parts = (...broken: readonly string[]) => {
  const closed: string[] = []
  const part = (name: string) => ({
    name,
    async close() {
      closed.push(name)
      if (broken.includes(name)) throw new Error(`${name} does not close`)
    },
  })
  return { closed, part }
}

t.test('closes resources in reverse order, once', async (t) => {
  const { closed, part } = parts()
  const opened = await opening(async (disposal) => {
    const store = disposal.use(part('store'))
    disposal.add(() => closed.push('timer'))
    disposal.use(part('server'))
    return { store }
  })
  t.equal(opened.store.name, 'store')
  t.same(closed, [])
  await Promise.all([opened.close(), opened.close()])
  await opened.close()
  t.same(closed, ['server', 'timer', 'store'])
})

t.test('a step that fails closes what was opened before it', async (t) => {
  const { closed, part } = parts('views')
  const failing = opening(async (disposal) => {
    disposal.use(part('log'))
    disposal.use(part('views'))
    throw new Error('no server')
  })
  await t.rejects(failing, { message: 'no server' })
  t.same(closed, ['views', 'log'])
})

t.test('a close that rejects keeps no other from closing', async (t) => {
  const { closed, part } = parts('views', 'reactor')
  const opened = await opening(async (disposal) => {
    for (const name of ['log', 'views', 'reactor', 'server']) disposal.use(part(name))
    return {}
  })
  await t.rejects(opened.close(), { message: 'reactor does not close' })
  t.same(closed, ['server', 'reactor', 'views', 'log'])
})

t.test('each close waits for the one before', async (t) => {
  const order: string[] = []
  const { close } = await opening(async (disposal) => {
    disposal.add(() => order.push('store'))
    disposal.add(async () => {
      await new Promise(setImmediate)
      order.push('server')
    })
    return {}
  })
  await close()
  t.same(order, ['server', 'store'])
})
