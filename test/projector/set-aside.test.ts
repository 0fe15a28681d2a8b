import t from 'tap'
import { projector } from '../../src/projector/projector.ts'
import { rebuild } from '../../src/projector/rebuild.ts'
import type { SetAsideEvent } from '../../src/projector/set-aside.ts'
import { verifyProjection } from '../../src/projector/verify.ts'
import { put, say } from '../support/box-history.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { boxes, things, toys } from '../support/toys.ts'

const patience = 10_000

const open = (stream: string, owner: string) => ({ stream, type: 'BoxOpened', data: { owner } })

t.test(
  'an unreadable event marks the documents of its stream, and everything is folded on',
  async (t) => {
    const { store, views } = await opened(t)
    const aside: object[] = []
    const log = { info() {}, warn() {}, error: (fields: object) => void aside.push(fields) }
    const instance = projector({ store, views, projections: toys, log })
    await instance.start()
    await say(store, [open('1', 'ann'), put('1', 'cup'), open('2', 'ben')])
    await say(store, [{ stream: '1', type: 'ThingPut', data: { thing: 'cup', weight: 'x' } }])
    await say(store, [put('1', 'hat'), put('2', 'pen')])
    t.ok(await instance.waitForPosition(await store.head(), patience))
    t.ok(instance.state().every(({ state }) => state === 'running'))
    t.match(aside, [
      { position: 3, stream: 'box-org-1_1', type: 'ThingPut', reason: /data\.weight/ },
    ])
    t.notMatch(JSON.stringify(aside), '"x"')
    const box = await views.view(boxes)
    t.match(await box.get('1'), { weight: 2, incomplete: true })
    t.notMatch(await box.get('2'), { incomplete: true })
    const thing = await views.view(things)
    t.match(await thing.get('cup'), { put: 1, incomplete: true }, 'named by the unreadable event')
    t.match(await thing.get('hat'), { incomplete: true }, 'changed by its stream later on')
    t.notMatch(await thing.get('pen'), { incomplete: true })
    await instance.stop()
    for (const projection of toys)
      t.strictSame((await verifyProjection({ store, views, projection })).differences, [])
    for (const projection of toys) await rebuild({ store, views, projection })
    for (const projection of toys)
      t.strictSame((await verifyProjection({ store, views, projection })).differences, [])
  },
)

t.test('a stream stays incomplete after a restart', async (t) => {
  const { store, views } = await opened(t)
  await say(store, [open('1', 'ann')])
  await say(store, [{ stream: '1', type: 'BoxPainted', data: [] }])
  const first = projector({ store, views, projections: toys })
  await first.start()
  await first.waitForPosition(at(1), patience)
  await first.stop()
  const known: SetAsideEvent[] = [
    { position: at(1), stream: 'box-org-1_1', revision: 1, type: 'BoxPainted', reason: 'so' },
  ]
  const second = projector({ store, views, projections: toys, known: async () => known })
  await second.start()
  await say(store, [put('1', 'hat')])
  t.ok(await second.waitForPosition(at(2), patience))
  t.match(await (await views.view(things)).get('hat'), { incomplete: true })
  await second.stop()
})

t.test('an event that depends on an unreadable one does not stop a read model', async (t) => {
  const { store, views } = await opened(t)
  const clumsy = {
    ...things,
    name: 'clumsy',
    creates: {
      ThingPut: () => {
        throw new Error('dropped it')
      },
    },
  }
  await say(store, [{ stream: '1', type: 'BoxOpened', data: [] }, put('1', 'cup')])
  const instance = projector({ store, views, projections: [clumsy] })
  await instance.start()
  t.ok(await instance.waitForPosition(at(1), patience))
  t.match(instance.state(), [{ state: 'running', position: 1 }])
  await say(store, [put('2', 'pen')])
  await instance.waitForPosition(at(2), patience)
  t.match(instance.state(), [{ state: 'stopped', error: { message: 'dropped it' } }])
  await instance.stop()
})
