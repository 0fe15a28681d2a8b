/** An organization's color where it has none. */
const plain = '#3b5bdb'

/** Relative luminance of one channel of sRGB (WCAG 2.2). */
const linear = (channel: number): number =>
  channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4

/** Black or white, whichever is easier to read on a color: the contrast is 4.5 at least. */
const inkOn = (color: string): '#000' | '#fff' => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff'
}

const isColor = /^#[0-9a-f]{6}$/

/** The pages' style in an organization's color; the policy names its hash. */
export const connectStyle = (brand: string | null): string => {
  const color = brand !== null && isColor.test(brand) ? brand : plain
  return `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif;--brand:${color};--ink:${inkOn(color)};--page:#f4f5f7;--card:#fff;--text:#1a1d21;--soft:#565d66;--line:#c9ced6;--good:#0a6b3d;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--page:#14171a;--card:#1e2226;--text:#eceef0;--soft:#a9b1ba;--line:#454c54;--good:#6fd8a0;--bad:#ffb4ab}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);overflow-wrap:anywhere}
main{margin:0 auto;max-width:34rem;padding:2rem 1rem 3rem}
.brand{display:flex;align-items:center;gap:.75rem;margin:0 0 1.5rem;font-weight:600}
.mark{flex:none;display:grid;place-items:center;width:2.75rem;height:2.75rem;border-radius:.75rem;background:var(--brand);color:var(--ink);font-size:1.25rem}
h1{margin:0 0 .5rem;font-size:1.625rem;line-height:1.25}
h2{margin:0;font-size:1.0625rem;line-height:1.4}
p{margin:.375rem 0}
.soft{color:var(--soft)}
.state{margin:1.25rem 0 1rem;font-weight:600}
.card{margin:0 0 1rem;padding:1rem 1.125rem 1.125rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card)}
.top{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:0 .75rem}
.done,.open{flex:none;font-size:.875rem;font-weight:600;line-height:1.75}
.done,.good{color:var(--good)}
.open{color:var(--soft)}
.notice{margin-top:8vh;padding:1.5rem}
.notice .mark{margin-bottom:1rem;background:none;border:2px solid var(--soft);border-radius:50%;color:var(--soft);font-weight:600}
.small{font-size:.875rem}
summary{width:fit-content;margin-top:.5rem;padding:.25rem 0;font-size:.875rem;font-weight:600;cursor:pointer}
details label{display:block;font-size:.875rem}
input{width:100%;min-height:2.75rem;margin-top:.5rem;padding:.5rem .75rem;border:1px solid var(--soft);border-radius:.5rem;background:var(--page);color:var(--text);font:inherit}
input[aria-invalid]{border:2px solid var(--bad)}
.button{display:inline-block;width:100%;min-height:3rem;padding:.75rem 1.5rem;border:0;border-radius:.5rem;background:var(--brand);color:var(--ink);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.second{border:2px solid var(--soft);background:none;color:var(--text)}
form:not(:has(details[open])) .second{display:none}
.first{margin-bottom:1.5rem}
.button:hover{filter:brightness(1.08)}
:focus-visible{outline:.1875rem solid var(--text);outline-offset:.125rem}
a{color:inherit}
.error{color:var(--bad);font-weight:600}
.box{margin:1rem 0;padding:.75rem 1rem;border:2px solid var(--bad);border-radius:.5rem}
.back{margin-top:1.25rem;text-align:center}
ul,ol{margin:.25rem 0;padding-left:1.25rem}
`
}
