import type { Test } from 'tap'
import type { Leases } from '../../src/ports/leases.ts'

const long = 60_000

/** Asks again until it is so; a minute at most. */
const eventually = async (happened: () => Promise<boolean>): Promise<boolean> => {
  for (const end = Date.now() + 60_000; Date.now() < end; ) if (await happened()) return true
  return false
}

/** What every lease store owes its callers. `open` opens the same store for one more node. */
export const leasesContract = (t: Test, place: (t: Test) => Promise<() => Promise<Leases>>) => {
  t.test('one holder at a time', async (t) => {
    const open = await place(t)
    const [here, there] = [await open(), await open()]
    t.equal(await here.holder('project'), undefined)
    t.equal(await here.acquire('project', 'a', long), true)
    t.equal(await there.acquire('project', 'b', long), false)
    t.equal(await here.acquire('project', 'a', long), true, 'renewed')
    t.equal(await there.holder('project'), 'a')
    t.equal(await there.acquire('other', 'b', long), true)
  })

  t.test('of many who want it one has it', async (t) => {
    const open = await place(t)
    const nodes = await Promise.all(['a', 'b', 'c', 'd'].map(open))
    const got = await Promise.all(nodes.map((node, n) => node.acquire('project', `${n}`, long)))
    t.equal(got.filter(Boolean).length, 1)
    t.equal(await nodes[0]?.holder('project'), `${got.indexOf(true)}`)
  })

  t.test('released by its holder, and by nobody else, it is free', async (t) => {
    const open = await place(t)
    const leases = await open()
    await leases.acquire('project', 'a', long)
    await leases.release('project', 'b')
    t.equal(await leases.holder('project'), 'a')
    await leases.release('project', 'a')
    t.equal(await leases.holder('project'), undefined)
    t.equal(await leases.acquire('project', 'b', long), true)
  })

  t.test('not renewed, it runs out and goes to who asks next', async (t) => {
    const open = await place(t)
    const [here, there] = [await open(), await open()]
    await here.acquire('project', 'a', 200)
    t.ok(await eventually(() => there.acquire('project', 'b', long)))
    t.equal(await here.holder('project'), 'b')
    t.equal(await here.acquire('project', 'a', long), false)
  })
}
