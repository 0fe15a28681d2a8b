import t from 'tap'
import type { AnyProjection } from '../../projections/projection.ts'
import { bothPaces } from '../../src/projector/both-paces.ts'
import { projector } from '../../src/projector/projector.ts'
import { put, say } from '../support/box-history.ts'
import { opened } from '../support/opened.ts'
import { boxes, tallies, things } from '../support/toys.ts'

const patience = 10_000

t.test('a wait is for the prompt read models unless it names another', async (t) => {
  const { store, views } = await opened(t)
  const prompt = projector({ store, views, projections: [boxes, things] })
  const later = projector({ store, views, projections: [tallies] })
  const both = bothPaces({ prompt, later, isLater: (name) => name === tallies.name })
  await prompt.start()
  await say(store, [put('b-1', 'cup')])
  const head = await store.head()
  t.ok(await both.waitForPosition(head, patience), 'although the later ones have not begun')
  t.equal(both.at('things'), head)
  t.equal(both.at('tallies'), -1)
  t.notOk(await both.waitForPosition(head, 1, ['things', 'tallies']))

  await later.start()
  t.ok(await both.waitForPosition(head, patience, ['things', 'tallies']))
  t.equal(both.at('tallies'), head)
  t.strictSame(
    both.state().map(({ name }) => name),
    ['boxes', 'things', 'tallies'],
  )
  await both.rebuild('tallies')
  await both.rebuild('things')
  t.equal(await views.checkpoint('tallies'), head)
  await prompt.stop()
  await later.stop()
})

for (const pace of ['prompt', 'later'])
  t.test(`a rebuild of a ${pace} read model replaces a damaged document`, async (t) => {
    const { store, views } = await opened(t)
    const of = (...projections: AnyProjection[]) => projector({ store, views, projections })
    const [prompt, later] = pace === 'prompt' ? [of(things), of(boxes)] : [of(boxes), of(things)]
    const isLater = (name: string) => (pace === 'later') === (name === things.name)
    const both = bothPaces({ prompt, later, isLater })
    await say(store, [put('b-1', 'cup')])
    const position = await store.head()
    const view = await views.view<{ put: number }>(things)
    const document = { thing: 'cup', place: { box: 'b-7' }, put: 7 }
    await views.commit([{ view: 'things', changes: [{ id: 'cup', document }], position }])
    await prompt.start()
    await later.start()
    t.ok(await both.waitForPosition(position, patience, ['things', 'boxes']))
    t.match(await view.get('cup'), { put: 7 })
    t.ok(both.holds('things'), 'this process projects it')
    await both.rebuild('things')
    t.strictSame(await view.get('cup'), { thing: 'cup', place: { box: 'b-1' }, put: 1 })
    await prompt.stop()
    await later.stop()
  })
