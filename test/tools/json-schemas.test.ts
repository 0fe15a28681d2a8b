import t from 'tap'
import { jsonSchemas } from '../../src/tools/json-schemas.ts'
import { noHandleLimits, takeHandles } from '../support/few-handles.ts'

/** References that double at each level, around one that ends it. */
const doubling = (levels: number) => ({
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: levels }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    ),
    [`d${levels}`]: {},
  },
  $ref: '#/$defs/d0',
})

/** A property for each of many schemas that all refer to each other. */
const entangled = (count: number) => {
  const all = Array.from({ length: count }, (_, n) => `d${n}`)
  const properties = Object.fromEntries(all.map((name) => [name, { $ref: `#/$defs/${name}` }]))
  return { $defs: Object.fromEntries(all.map((name) => [name, { properties }])), properties }
}

const evil = `${'a'.repeat(60)}!`
const redos = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }

/** Turns of this thread's event loop while something is awaited. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  await work
  clearInterval(counting)
  return turns
}

t.test('schemas that are bombs are compiled or refused, elsewhere and in bounds', async (t) => {
  const schemas = jsonSchemas()
  t.teardown(schemas.close)
  t.equal(await schemas.faultOf('a', doubling(40)), undefined, 'compiled without unfolding')
  const verdicts: Promise<unknown>[] = []
  for (const count of [20, 40]) verdicts.push(schemas.faultOf('a', entangled(count)))
  const turns = await turnsDuring(Promise.all(verdicts))
  t.ok(turns > 0)
  t.match(await schemas.faultOf('a', { type: 'nothing' }), { words: /type/, overLimit: false })
  t.match(await schemas.faultOf('a', { $ref: 'http://127.0.0.1/x.json' }), {
    words: /resolve/,
    overLimit: false,
  })
  t.match(await schemas.faultOf('a', { pattern: '(' }), {
    words: /[Rr]egular expression|regex/,
    overLimit: false,
  })
  t.match(await schemas.faultOf('a', { description: 'x'.repeat(70_000) }), {
    words: /characters/,
    overLimit: true,
  })
})

t.test('a slow or large schema is refused, and the next one is served', async (t) => {
  const slow = jsonSchemas({ timeoutMs: 0 })
  t.teardown(slow.close)
  t.strictSame(await slow.faultOf('a', entangled(40)), {
    words: 'it takes too long to compile',
    overLimit: true,
  })
  // A thread that a test runner adds to takes a part of this heap at its start.
  const small = jsonSchemas({ heapMb: 24, threads: 1, timeoutMs: 60_000 })
  t.teardown(small.close)
  t.strictSame(await small.faultOf('a', { anyOf: Array(10_000).fill(false) }), {
    words: 'it needs too much memory to compile',
    overLimit: true,
  })
  t.equal(await small.faultOf('a', { type: 'object' }), undefined)
})

t.test('values are checked, whatever a pattern does', async (t) => {
  const schemas = jsonSchemas({ timeoutMs: 300 })
  t.teardown(schemas.close)
  t.equal(await schemas.misfitOf('a', redos, { a: 'aaa' }), undefined)
  t.strictSame(await schemas.misfitOf('a', redos, { a: 1 }), {
    misfit: 'arguments/a must be string',
  })
  const hanging = schemas.misfitOf('a', redos, { a: evil })
  const turns = await turnsDuring(hanging)
  t.ok(turns > 5, 'this thread goes on')
  t.strictSame(await hanging, { misfit: 'the arguments could not be checked in time' })
  t.equal(await schemas.misfitOf('a', redos, { a: 'aaa' }), undefined, 'another thread took over')
})

t.test('one organization’s patterns do not hold up another’s', async (t) => {
  const schemas = jsonSchemas({ timeoutMs: 1_000 })
  t.teardown(schemas.close)
  const order: string[] = []
  const slow = Array.from({ length: 4 }, () =>
    schemas.misfitOf('slow', redos, { a: evil }).then(() => order.push('slow')),
  )
  const quick = schemas.misfitOf('quick', { type: 'object' }, {}).then(() => order.push('quick'))
  await Promise.all([...slow, quick])
  t.ok(order.indexOf('quick') <= 1, order.join(' '))
})

t.test('after closing nothing is checked any more', async (t) => {
  const schemas = jsonSchemas()
  const hanging = schemas.misfitOf('a', redos, { a: evil })
  await schemas.close()
  await t.rejects(hanging, { name: 'WorkFailed', fault: 'closed' })
  await t.rejects(schemas.faultOf('a', {}), { name: 'WorkFailed', fault: 'closed' })
})

t.test(
  'a schema that no thread could be started for is compiled when it is used again',
  { skip: noHandleLimits() },
  async (t) => {
    const schemas = jsonSchemas()
    t.teardown(schemas.close)
    const { setTimeout } = globalThis
    // The pauses between starts, at most a second each, are left out.
    const value = (work: () => void, ms: number) => setTimeout(work, ms > 1_000 ? ms : 0)
    t.intercept(globalThis, 'setTimeout', { value })
    const misfit = () => schemas.misfitOf('a', redos, { a: 'aaa' })
    const { free } = takeHandles(t)
    await t.rejects(misfit(), { name: 'WorkFailed', fault: 'start' })
    free()
    t.equal(await misfit(), undefined)
  },
)
