import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'

const tokens = readFileSync('console/src/styles/tokens.css', 'utf8')
const pattern = /--(?<name>[\w-]+): light-dark\((?<light>#[0-9a-f]{6}), (?<dark>#[0-9a-f]{6})\)/g

type Pair = { light: string; dark: string }
const colors = new Map(
  [...tokens.matchAll(pattern)].map(({ groups = {} }): [string, Pair] => [
    groups.name ?? '',
    { light: groups.light ?? '', dark: groups.dark ?? '' },
  ]),
)

/** Relative luminance and contrast by WCAG 2.2. */
const luminance = (color: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
const contrast = (color: string, background: string): number => {
  const [low = 0, high = 0] = [luminance(color), luminance(background)].toSorted((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const backgrounds = ['background', 'surface', 'surface-raised', 'surface-muted', 'surface-hover']
const onAll = ['text', 'text-soft', 'accent', 'accent-strong', 'good', 'bad', 'warn', 'info']

const texts = [
  ...onAll.flatMap((color) => backgrounds.map((background) => [color, background] as const)),
  ...(['good', 'bad', 'warn', 'info'] as const).map((tone) => [tone, `${tone}-soft`] as const),
  ['text', 'bad-soft'],
  ['text-soft', 'bad-soft'],
  ['text', 'accent-soft'],
  ['text-soft', 'accent-soft'],
  ['accent-strong', 'accent-soft'],
  ['accent-text', 'accent'],
  ['accent-text', 'accent-strong'],
  ['bad-text', 'bad'],
  ['bad-text', 'bad-strong'],
] as const

const marks = [
  ...['background', 'surface', 'surface-raised'].map((name) => ['border-control', name] as const),
  ...[1, 2, 3, 4, 5, 6].map((n) => [`series-${n}`, 'surface'] as const),
]

for (const theme of ['light', 'dark'] as const) {
  const expectContrast = (
    t: Test,
    pairs: readonly (readonly [string, string])[],
    least: number,
  ) => {
    for (const [color, background] of pairs) {
      const [front, back] = [colors.get(color)?.[theme], colors.get(background)?.[theme]]
      if (!front || !back) t.fail(`${color} or ${background} is no token`)
      else t.ok(contrast(front, back) >= least, `${color} on ${background}`, { front, back })
    }
  }
  t.test(`texts have a contrast of 4.5 in the ${theme} theme`, async (t) => {
    expectContrast(t, texts, 4.5)
  })
  t.test(`marks and borders of controls have a contrast of 3 in the ${theme} theme`, async (t) => {
    expectContrast(t, marks, 3)
  })
}
