import fc from 'fast-check'
import t from 'tap'
import { sameButText } from '../../../src/adapters/models/same-but-text.ts'

const line = (content: string, more: object = {}) =>
  JSON.stringify({ id: 'x', choices: [{ delta: { content }, finish_reason: null }], ...more })

const parsing = () => {
  let parsed = 0
  const said = (text: string): string | undefined => {
    parsed++
    const content = JSON.parse(text).choices[0].delta.content
    return typeof content === 'string' ? content : undefined
  }
  const same = sameButText(said)
  const read = (text: string) => {
    const found = same.textOf(text)
    if (found !== undefined) return found
    const content = said(text)
    if (content !== undefined) same.learn(text, content)
    return content
  }
  return { read, parsed: () => parsed }
}

t.test('whatever the texts and forms, what is read is what was written', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      'a',
      '"',
      '\\',
      '\\"',
      '"}',
      '","content":"',
      '"content":"a"',
      '\n',
      'said',
    ),
  )
  const form = fc.constantFrom({}, { note: '"content":"a"' }, { content: 'a' }, { content: 'said' })
  fc.assert(
    fc.property(fc.array(fc.tuple(text, form), { maxLength: 30 }), (written) => {
      const { read } = parsing()
      for (const [content, more] of written) t.equal(read(line(content, more)), content)
    }),
  )
  t.end()
})

t.test('lines that differ in their text alone are parsed once, and tried once', (t) => {
  const { read, parsed } = parsing()
  for (let n = 0; n < 20; n++) t.equal(read(line(`token${n} `)), `token${n} `)
  t.equal(parsed(), 2)
  t.equal(read(line('a "quoted" one')), 'a "quoted" one')
  t.equal(parsed(), 3)
  t.end()
})

t.test('the same text elsewhere in a line is not taken for it', (t) => {
  const { read, parsed } = parsing()
  const twice = (content: string) => `{"a":{"content":"one"},${line(content).slice(1)}`
  for (const content of ['one', 'one', 'two', 'one', 'three'])
    t.equal(read(twice(content)), content)
  const before = parsed()
  for (let n = 0; n < 20; n++) t.equal(read(twice('one')), 'one')
  t.ok(parsed() - before < 25, 'it is tried a few times only')
  const first = (note: string) => `{"a":{"content":"${note}"},${line('said').slice(1)}`
  const other = parsing()
  for (const note of ['said', 'one', 'two']) t.equal(other.read(first(note)), 'said')
  t.end()
})

t.test('a provider whose lines differ in more is not tried at all', (t) => {
  const { read, parsed } = parsing()
  for (let n = 0; n < 20; n++) t.equal(read(line(`t${n}`, { pad: 'p'.repeat(n) })), `t${n}`)
  t.equal(parsed(), 20)
  t.end()
})
