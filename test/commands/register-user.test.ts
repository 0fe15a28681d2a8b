import t from 'tap'
import { commanded } from '../support/commanded.ts'
import { commanding } from '../support/commanding.ts'
import { platformCall } from '../support/recorded.ts'

const { registerUser, appendedOnce, secrets } = await commanding(t)

t.test('an account, its email and name sealed', async (t) => {
  const command = { email: ' Zoe@Example.com', origin: 'self' } as const
  const events = await appendedOnce(t, (by) => registerUser(command, by), platformCall)
  const hash = secrets.hashEmail('zoe@example.com')
  t.match(events, [
    { type: 'EmailClaimed', stream: `email-${hash}` },
    { type: 'UserRegistered', data: { emailHash: hash, origin: 'self' } },
  ])
  t.notMatch(JSON.stringify(events), /zoe/i)
  const { created, user, userId } = await registerUser(command, platformCall)
  t.match({ created, user }, { created: false, user: { status: 'registered' } })
  t.match(events[1], { stream: `user-${userId}` })
})

t.test('an address belongs to one account, however many claim it at once', async (t) => {
  const { registerUser, read, seen, secrets } = await commanded(t)
  const names = Array.from({ length: 12 }, (_, n) => `Ann ${n}`)
  const accounts = await Promise.all(
    names.map((name, n) => {
      const email = n % 2 ? 'ann@example.com' : ' Ann@Example.com'
      return registerUser({ email, name, origin: 'self' }, platformCall)
    }),
  )
  t.equal(new Set(accounts.map(({ userId }) => userId)).size, 1)
  t.equal(accounts.filter(({ created }) => created).length, 1)
  await seen()
  const equals = [secrets.hashEmail('ann@example.com')]
  t.equal((await read.users.find({ index: 'by_email', equals, limit: 10 })).total, 1)
})
