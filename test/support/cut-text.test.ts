import t from 'tap'
import { cutPlace, cutText, shortText } from '../../src/support/cut-text.ts'

const family = '👨‍👩‍👧‍👦'
const flag = '🇩🇪'
const clusters = [
  'a',
  'é',
  'e\u0301',
  '한',
  '각',
  'क्षि',
  '👍🏽',
  family,
  flag,
  '\r\n',
  '❤️',
  '1️⃣',
  '𝒳',
  ' ',
]

t.test('a text that is short enough stays whole', async (t) => {
  t.equal(cutText(family, family.length), family)
  t.equal(cutText('', 0), '')
  t.equal(shortText('abc', 3), 'abc')
})

t.test('a cut at any place is between two clusters', async (t) => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const cluster of clusters) {
    const text = `x${clusters.join('')}${cluster.repeat(2)}y${clusters.toReversed().join('')}`
    const boundaries = [
      0,
      ...[...segmenter.segment(text)].map(({ index, segment }) => index + segment.length),
    ]
    for (let most = 0; most <= text.length; most++) {
      const best = boundaries.findLast((end) => end <= most)
      t.equal(cutText(text, most).length, best, `${JSON.stringify(cluster)} at ${most}`)
    }
  }
})

t.test('deep in a row of one cluster the cut is where the row has it', async (t) => {
  for (const cluster of clusters)
    for (const before of ['', 'a', 'é'])
      for (const most of [700, 701, 702, 703, 1_024]) {
        const text = before + cluster.repeat(2_000)
        const count = Math.floor((most - before.length) / cluster.length)
        t.equal(
          cutText(text, most),
          before + cluster.repeat(count),
          JSON.stringify([before, cluster]),
        )
      }
})

t.test('a cluster longer than the window is cut between two code points', async (t) => {
  const long = `e${'\u0301'.repeat(5_000)}`
  t.equal(cutText(long, 1_000).length, 1_000)
  const high = `a${'\u{e0100}'.repeat(5_000)}`
  for (const most of [1_000, 1_001]) t.ok(cutText(high, most).isWellFormed())
  t.equal(cutText(high, 1_000).length, 999)
})

t.test('a cluster that does not fit at all is not begun', async (t) => {
  t.equal(cutText('👍👍', 1), '')
  t.equal(cutText('\r\n', 1), '\r')
})

t.test('an ellipsis stands for the rest, and counts', async (t) => {
  t.equal(shortText('abcdef', 4), 'abc…')
  t.equal(shortText(`ab${flag}x`, 5), 'ab…')
})

t.test('looks at a bounded part of the text, however long that is', async (t) => {
  const { segment } = Intl.Segmenter.prototype
  let longest = 0
  Intl.Segmenter.prototype.segment = function (this: Intl.Segmenter, text: string) {
    longest = Math.max(longest, text.length)
    return segment.call(this, text)
  }
  t.teardown(() => {
    Intl.Segmenter.prototype.segment = segment
  })
  cutText(family.repeat(200_000), 1_000_000)
  t.ok(longest > 0 && longest < 1_000, `${longest}`)
})

t.test('a place outside of the text is its nearer end', async (t) => {
  t.equal(cutPlace('abc', -1), 0)
  t.equal(cutPlace('abc', 9), 3)
})
