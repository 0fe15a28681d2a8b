import t from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { mcpChecks } from '../../src/tools/mcp-checks.ts'
import { call } from '../support/recorded.ts'

const server = (n: number, headers: Record<string, string> = {}) => ({
  name: `s${n}`,
  url: `https://s${n}.example/`,
  headers,
})

t.test(
  'two servers are asked at once, the others wait, and what is too much is dropped',
  async (t) => {
    const names: string[] = []
    const answers: (() => void)[] = []
    const lastCheck = deferred<void>()
    const { check } = mcpChecks(({ name }) => {
      names.push(name)
      if (names.length === 102) lastCheck.resolve()
      return new Promise<void>((resolve) => answers.push(resolve))
    })
    check(
      [...Array(150)].map((_, n) => server(n)),
      call,
    )
    t.strictSame(names, ['s0', 's1'])
    const release = setInterval(() => answers.shift()?.(), 0)
    t.teardown(() => clearInterval(release))
    await lastCheck.promise
    t.equal(names.at(-1), 's101')
  },
)

t.test('servers that need a credential are not asked, nor any after the end', async (t) => {
  const names: string[] = []
  const { check, close } = mcpChecks(({ name }) => {
    names.push(name)
    return new Promise(() => undefined)
  })
  check(
    [server(1, { Authorization: '{{credential:TOKEN}}' }), server(2), server(3), server(4)],
    call,
  )
  t.strictSame(names, ['s2', 's3'])
  close()
  t.strictSame(names, ['s2', 's3'])
})
