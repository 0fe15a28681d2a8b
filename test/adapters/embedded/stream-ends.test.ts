import t from 'tap'
import { idFirst } from '../../../src/adapters/embedded/index-key.ts'
import { streamEnds } from '../../../src/adapters/embedded/stream-ends.ts'

/** Streams on disk by the name of their key, and what was looked up there. */
const onDisk = (stored: ReadonlyMap<string, number>) => {
  const looked: string[] = []
  const names = [...stored.keys()].toSorted()
  const lastRevisions = streamEnds({
    revision(stream) {
      looked.push(stream)
      return stored.get(idFirst(stream)) ?? -1
    },
    nextTo: (stream) => ({
      after: names.findLast((name) => name < idFirst(stream)) ?? '',
      before: names.find((name) => name > idFirst(stream)),
    }),
  })
  return { lastRevisions, looked }
}

t.test('of new streams whose ids begin with their time only the first is looked up', async (t) => {
  const { lastRevisions, looked } = onDisk(new Map([['018_note-org', 4]]))
  for (const id of ['019', '01a', '01b']) {
    t.equal(lastRevisions.of(`note-org_${id}`), -1)
    lastRevisions.written(`note-org_${id}`, 0)
  }
  t.equal(lastRevisions.of('note-org_01a'), 0)
  t.strictSame(looked, ['note-org_019'])
})

t.test('a stream beside others is looked up', async (t) => {
  const { lastRevisions, looked } = onDisk(
    new Map([
      ['018_note-org', 4],
      ['zebra_note-org', 2],
    ]),
  )
  t.equal(lastRevisions.of('note-org_019'), -1)
  lastRevisions.written('note-org_019', 0)
  t.equal(lastRevisions.of('note-org_018'), 4)
  t.equal(lastRevisions.of('note-org_0180'), -1, 'before the newest')
  t.equal(lastRevisions.of('note-org_zebra'), 2)
  t.equal(lastRevisions.of('note-org_zoo'), -1, 'behind another')
  t.equal(lastRevisions.of('note-org_ž'), -1, 'a name that sorts otherwise as a key')
  t.strictSame(looked, [
    'note-org_019',
    'note-org_018',
    'note-org_0180',
    'note-org_zebra',
    'note-org_zoo',
    'note-org_ž',
  ])
  lastRevisions.clear()
  t.equal(lastRevisions.of('note-org_01b'), -1)
  t.equal(looked.length, 7, 'after a commit that failed, nothing is known')
})

t.test('of more streams than are kept, the latest are', async (t) => {
  const { lastRevisions } = onDisk(new Map())
  for (let n = 0; n < 30_000; n++) lastRevisions.set(`note-${n}`, n)
  t.ok(lastRevisions.has('note-29999'))
  t.ok(lastRevisions.has('note-20000'))
  t.notOk(lastRevisions.has('note-9'))
})
