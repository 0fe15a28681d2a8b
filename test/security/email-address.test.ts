import t from 'tap'
import {
  comparedEmail,
  earlierSpellings,
  normalizedEmail,
} from '../../src/security/email-address.ts'

t.test('emails are compared without blanks and case', async (t) => {
  t.equal(normalizedEmail('  Ann@Example.COM '), 'ann@example.com')
  t.equal(comparedEmail('  Ann@Example.COM '), 'ann@example.com')
})

t.test('the same mailbox in another spelling is the same address', async (t) => {
  for (const [left, right] of [
    ['zoe\u0308@example.com', 'zo\u00eb@example.com'],
    ['ann@b\u00fccher.example', 'ann@xn--bcher-kva.example'],
    ['ann@BU\u0308CHER.example', 'ann@xn--bcher-kva.example'],
    ['ann@fa\u00df.example', 'ann@xn--fa-hia.example'],
    ['\u00c5@example.com', 'A\u030a@example.com'],
  ] as const) {
    t.equal(comparedEmail(left), comparedEmail(right), `${left} and ${right}`)
    t.ok([comparedEmail(left), ...earlierSpellings(left)].includes(right.toLowerCase()))
    t.ok([comparedEmail(right), ...earlierSpellings(right)].includes(left.toLowerCase()))
  }
})

t.test('mailboxes that may be of several people stay apart', async (t) => {
  for (const [left, right] of [
    ['a.b@example.com', 'ab@example.com'],
    ['ann+x@example.com', 'ann@example.com'],
    ['\uff41nn@example.com', 'ann@example.com'],
    ['\ufb01@example.com', 'fi@example.com'],
    ['stra\u00dfe@example.com', 'strasse@example.com'],
    ['ann@fa\u00df.example', 'ann@fass.example'],
    ['\u0430nn@example.com', 'ann@example.com'],
    ['ann@ex%61mple.com', 'ann@example.com'],
    ['ann@example.com#x', 'ann@example.com'],
    ['ann@0x7f.1', 'ann@127.0.0.1'],
    ['a\u200dnn@example.com', 'ann@example.com'],
  ] as const)
    t.not(comparedEmail(left), comparedEmail(right), `${left} and ${right}`)
})

t.test('comparing twice is comparing once', async (t) => {
  for (const email of [
    'Zo\u00cb@B\u00dcCHER.example',
    '\u0130@example.com',
    'a@xn--a.example',
    'a',
  ])
    t.equal(comparedEmail(comparedEmail(email)), comparedEmail(email))
})

t.test('an ASCII address has no other spelling', async (t) => {
  t.strictSame(earlierSpellings('Ann.Lee+x@Example.com'), [])
})
