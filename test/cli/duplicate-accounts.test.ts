import t from 'tap'
import { masterKeyOf } from '../../src/app/master-key.ts'
import { openStores } from '../../src/app/stores.ts'
import { type Account, duplicatesOf } from '../../src/cli/duplicate-accounts.ts'
import { decideRegister, userStream } from '../../src/domain/user/user.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import { silent } from '../../src/ports/log.ts'
import { openMasterKeys } from '../../src/security/master-keys.ts'
import { userKey, vault } from '../../src/security/vault.ts'
import { wrappedKeys } from '../../src/security/wrapped-keys.ts'
import { call } from '../support/recorded.ts'
import { reprise } from '../support/reprise.ts'
import { startApp } from '../support/server.ts'
import { clockFrom } from '../support/ticking.ts'

const account = (userId: string, address: string | undefined, subjectHash?: string): Account => ({
  userId,
  address,
  registeredAt: '2026-01-01T00:00:00.000Z',
  identities: subjectHash === undefined ? [] : [{ provider: 'google', subjectHash }],
})

t.test('accounts with the same address or identity are listed together', async (t) => {
  const groups = duplicatesOf([
    account('user-1', 'zoe\u0308@example.com', 's-1'),
    account('user-2', 'zo\u00eb@example.com'),
    account('user-3', 'ann@xn--bcher-kva.example'),
    account('user-4', 'ann@b\u00fccher.example', 's-1'),
    account('user-5', 'ann@example.com', 's-2'),
    account('user-6', undefined),
    account('user-7', undefined),
  ])
  t.strictSame(
    [...groups].map(([reason, group]) => [reason, group.map(({ userId }) => userId)]),
    [
      ['address zo\u00eb@example.com', ['user-1', 'user-2']],
      ['identity google s-1', ['user-1', 'user-4']],
      ['address ann@xn--bcher-kva.example', ['user-3', 'user-4']],
    ],
  )
})

/** Stores accounts as earlier releases did, which told their spellings apart. */
const storeEarlier = async (DATA_DIR: string, addresses: readonly string[]) => {
  const { events, keys, snapshots, close } = await openStores({ DATA_DIR }, silent)
  const given = await masterKeyOf({ MASTER_KEY: undefined, DATA_DIR })
  const { rings } = await openMasterKeys({ keys, given, isNew: false, shared: false })
  const { seal } = vault({ keys: wrappedKeys(keys, rings) })
  const { transact } = transactor({ store: events, snapshots, clock: clockFrom(call.at) })
  for (const [n, address] of addresses.entries()) {
    const text = await seal(userKey(`user-${n}`), address)
    const data = { email: text, emailHash: `hash-${n}`, name: text, origin: 'self' } as const
    await transact(userStream(`user-${n}`), decideRegister(data), call)
  }
  await close()
}

t.test('reads the stores of a server that was stopped', async (t) => {
  const DATA_DIR = t.testdir()
  const server = await startApp(t, { DATA_DIR })
  await server.platform.organization()
  const running = await reprise('accounts duplicates', { DATA_DIR })
  t.match(running, { code: 1, out: '', err: 'stop it, or run this on a copy of its DATA_DIR' })
  await server.stop()
  const none = await reprise('accounts duplicates', { DATA_DIR })
  t.match(none, { code: 0, err: '' })
  t.match(none.out, /^SAME +ACCOUNT .*\n\(none\)\n$/)

  await storeEarlier(DATA_DIR, ['zoe\u0308@example.com', 'ann@example.com', 'zo\u00eb@example.com'])
  const { code, out } = await reprise('accounts duplicates', { DATA_DIR })
  t.equal(code, 0)
  t.strictSame(
    out.split('\n').map((line) => /user-\d/.exec(line)?.[0]),
    [undefined, 'user-0', 'user-2', undefined],
  )
})
