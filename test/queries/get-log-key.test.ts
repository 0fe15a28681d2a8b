import t from 'tap'
import { getLogKey, signerFor } from '../../queries/get-log-key.ts'
import { openedNote } from '../../src/transparency/note.ts'

const logKeySeed = (organizationId: string) => Buffer.alloc(32, organizationId)

t.test('an organization’s notes are verified by its log key, and by no other', async (t) => {
  const keyOf = getLogKey({ logKeySeed })
  const note = signerFor(logKeySeed)('org-1').sign('a text\n')
  t.match(keyOf('org-1'), /^reprise\/org-1\+/)
  t.equal(openedNote(note, keyOf('org-1')), 'a text\n')
  t.throws(() => openedNote(note, keyOf('org-2')), { name: 'NoteInvalid' })
})
