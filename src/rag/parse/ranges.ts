const most = 20

/** `pages 1–3, 7`: numbers in ascending order, the first of them where there are many. */
export const ranges = (noun: string, numbers: readonly number[]): string => {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  const names = runs.slice(0, most).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`))
  const rest = runs.length > most ? ' and others' : ''
  return `${noun}${numbers.length > 1 ? 's' : ''} ${names.join(', ')}${rest}`
}
