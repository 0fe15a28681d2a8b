import t from 'tap'
import { refusal } from '../../../src/domain/refusal.ts'
import { systemCall } from '../../../src/ports/call.ts'
import { eraseSessions } from '../../../src/turns/erase/erase-sessions.ts'
import { at } from '../../support/positions.ts'

const call = systemCall('request-1', new Date(0), 'org-1')
const session = { userId: 'user-1', sessionId: 'session-1' }

/** An erasure over doubles; `steps` lists what happened, in order. */
const scene = () => {
  const steps: string[] = []
  const erasing = eraseSessions({
    eraseSession: async ({ sessionId }, _call, alsoErase) => {
      if (sessionId === 'gone') throw refusal('session_not_found')
      await alsoErase?.()
      steps.push(`erase ${sessionId}`)
      return { position: at(7) }
    },
    eraseContents: async (sessionId) => {
      steps.push(`contents of ${sessionId}`)
    },
    listSessionIds: async () => ['session-1', 'gone', 'session-2'],
    turns: {
      cancel: async () => {
        steps.push('cancel')
        return true
      },
      forget: ({ sessionId }) => {
        steps.push(`forget ${sessionId}`)
      },
    },
    waitForPosition: async (position) => {
      await new Promise(setImmediate)
      steps.push(`views at ${position}`)
    },
    head: async () => at(9),
  })
  return { steps, erasing }
}

t.test('an erasure resolves once the views show it', async (t) => {
  const { steps, erasing } = scene()
  await erasing.one(session, call)
  t.strictSame(steps, [
    'cancel',
    'contents of session-1',
    'erase session-1',
    'forget session-1',
    `views at ${at(7)}`,
  ])
})

t.test('all sessions of a user: those that are gone are not counted', async (t) => {
  const { steps, erasing } = scene()
  t.equal(await erasing.all('user-1', call), 2)
  t.equal(steps[0], `views at ${at(9)}`, 'the list has every session of before')
  t.equal(steps.at(-1), `views at ${at(9)}`)
})
