const zeros = {
  logCommits: 0,
  logPuts: 0,
  logGets: 0,
  viewsCommits: 0,
  viewsPuts: 0,
  viewsGets: 0,
  parses: 0,
  stringifies: 0,
  hashes: 0,
  ciphers: 0,
  promises: 0,
  subscriptions: 0,
  hops: 0,
  timers: 0,
}

/** What a process does, each a number of calls (docs/performance.md#budget-of-a-turn). */
export type Counters = typeof zeros

export const counters: Counters = { ...zeros }

export const reset = (): void => {
  Object.assign(counters, zeros)
}

type Method = (this: unknown, ...given: unknown[]) => unknown

/** Counts the calls of methods. */
export const countCalls = (of: object, names: readonly string[], what: keyof Counters): void => {
  for (const name of names) {
    const real: Method = Reflect.get(of, name)
    Reflect.set(of, name, function (this: unknown, ...given: unknown[]) {
      counters[what]++
      return real.apply(this, given)
    })
  }
}
