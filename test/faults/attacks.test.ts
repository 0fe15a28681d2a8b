import t from 'tap'
import { hasProc, memoryOf } from '../support/process-state.ts'
import { attackedServer, holds } from '../support/under-attack.ts'
import { attacks, namesAlone } from './attacks/attacks.ts'

/** ATTACK=words tries only those whose name has these words. */
const { ATTACK = '' } = process.env
const chosen = Object.entries(attacks).filter(([name]) =>
  ATTACK ? name.includes(ATTACK) : namesAlone.includes(name),
)

// Some seconds each.
t.setTimeout(300_000)

t.test('attacks on one server', { skip: !hasProc && 'needs /proc' }, async (t) => {
  const server = await attackedServer(t)
  const { url, pid } = server
  // Each is measured against what the ones before have left in memory.
  for (const [name, attack] of chosen)
    await t.test(name, (t) =>
      holds(t, { url, pid, idle: memoryOf(pid) }, async () => (await attack(server))()),
    )
  t.equal(await server.stop(), 0)
})
