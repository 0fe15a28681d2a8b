import t from 'tap'
import type { Commands } from '../../src/app/commands.ts'
import { readYourWrites } from '../../src/app/read-your-writes.ts'
import { routeCommandsOf } from '../../src/app/route-commands.ts'
import type { Position } from '../../src/domain/event.ts'
import { deferred } from '../../src/support/deferred.ts'
import { sources } from '../support/imports.ts'
import { at } from '../support/positions.ts'

const position = at(7)

/** Commands that answer at once with their name, their input and a position. */
const answering = new Proxy({} as Commands, {
  get:
    (_commands, name) =>
    async (...input: unknown[]) => ({ name, input, position }),
})

/** Route commands over views that show an event once `visible` resolves. */
const waiting = () => {
  const visible = deferred<void>()
  const steps: string[] = []
  const waitForPosition = async (awaited: number) => {
    steps.push(`waits for ${awaited}`)
    await visible.promise
    steps.push('shown')
  }
  const writes = readYourWrites({ waitForPosition, head: async () => at(9) })
  return { visible, steps, writes, commands: routeCommandsOf(answering, writes) }
}

const names = Object.keys(waiting().commands)

t.test('every command of a route resolves after the views show its events', async (t) => {
  for (const name of names) {
    const { visible, steps, commands } = waiting()
    const command = (commands as unknown as Record<string, (...input: unknown[]) => object>)[name]
    const result = Promise.resolve(command?.('input', 'call')).then((answer) => {
      steps.push('resolves')
      return answer
    })
    await new Promise(setImmediate)
    t.strictSame(steps, [`waits for ${position}`], `${name} waits for its events`)
    visible.resolve()
    t.strictSame(await result, { name, input: ['input', 'call'], position }, `${name} answers`)
    t.strictSame(steps.slice(1), ['shown', 'resolves'], name)
  }
})

t.test('a command that is refused does not wait', async (t) => {
  const { steps, writes } = waiting()
  const refused = writes.command(async (): Promise<{ position: Position }> => {
    throw new Error('refused')
  })
  await t.rejects(refused(), { message: 'refused' })
  t.strictSame(steps, [])
})

t.test('a query after a write reads when the views show the end of the log', async (t) => {
  const { visible, steps, writes } = waiting()
  const query = writes.query(async (id: string) => {
    steps.push(`reads ${id}`)
    return id
  })
  const answer = query('one')
  await new Promise(setImmediate)
  t.strictSame(steps, ['waits for 9'])
  visible.resolve()
  t.equal(await answer, 'one')
  t.strictSame(steps.slice(1), ['shown', 'reads one'])
})

t.test('routes and sockets call no other commands', async (t) => {
  /** They append nothing. */
  const checks = ['checkDraft', 'requireErasableUser', 'requireProvisionedUser']
  const { files, importsOf } = sources()
  const imported = files
    .filter((file) => file.startsWith('src/http/'))
    .flatMap((file) => importsOf(file).map(({ from }) => /^commands\/(.+)\.ts$/.exec(from)?.[1]))
    .flatMap((file) => file?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? [])
  const called = new Set(imported.filter((name) => !checks.includes(name)))
  t.strictSame([...called].sort(), [...names].sort())
})
