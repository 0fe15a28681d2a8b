import { Counter, Histogram, type Registry } from 'prom-client'

type Labels<Name extends string> = Readonly<Record<Name, string>>

type Options<Name extends string> = {
  name: string
  help: string
  labelNames: readonly Name[]
  /** Upper bounds, in ascending order. */
  buckets: readonly number[]
  registry: Registry
}

/** What was observed under one set of labels. */
export type Observed = { observe(value: number): void }

const tally = (buckets: readonly number[]) => {
  const counts = new Float64Array(buckets.length + 1)
  let sum = 0
  return {
    observe(value: number): void {
      let n = 0
      while (n < buckets.length && value > (buckets[n] as number)) n++
      counts[n] = (counts[n] as number) + 1
      sum += value
    },
    counts,
    sum: () => sum,
  }
}

/**
 * A histogram that counts in plain numbers, which become a metric when somebody asks for it:
 * prom-client looks its numbers up by the text of all labels, each time. `of` adds a set of labels;
 * whoever observes keeps what it answers.
 */
export const histogram = <Name extends string>(options: Options<Name>) => {
  const { name, help, labelNames, buckets, registry } = options
  const known: { labels: Labels<Name>; tally: ReturnType<typeof tally> }[] = []

  const get = async () => {
    const values = known.flatMap(({ labels, tally: { counts, sum } }) => {
      let upTo = 0
      const bucketValues = [...buckets, '+Inf'].map((le, n) => {
        upTo += counts[n] as number
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: upTo }
      })
      return [
        ...bucketValues,
        { metricName: `${name}_sum`, labels, value: sum() },
        { metricName: `${name}_count`, labels, value: upTo },
      ]
    })
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  }
  const described = { name, help, labelNames, buckets: [...buckets], registers: [registry] }
  Object.assign(new Histogram(described), { get, getForPromString: get })

  return {
    of(labels: Labels<Name>): Observed {
      const observed = tally(buckets)
      known.push({ labels, tally: observed })
      return observed
    },
  }
}

/** Adds one to a count. */
export const plus = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

type Described<Name extends string> = Omit<Options<Name>, 'buckets'>

/** A counter whose numbers are kept elsewhere, and read when somebody asks for them. */
export const counter = <Name extends string>(
  { name, help, labelNames, registry }: Described<Name>,
  all: () => Iterable<readonly [labels: Labels<Name>, value: number]>,
): void => {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of all()) this.inc(labels, value)
    },
  })
}

/** Counts under one label, for a counter. */
export const countsBy = <Name extends string>(label: Name, counts: ReadonlyMap<string, number>) =>
  function* () {
    for (const [name, value] of counts) yield [{ [label]: name } as Labels<Name>, value] as const
  }
