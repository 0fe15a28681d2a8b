import { Presets, SingleBar } from 'cli-progress'

/** Shows progress on a terminal; does nothing elsewhere. */
export const progressBar = (what: string) => {
  const bar = new SingleBar(
    { format: `${what} {bar} {percentage} %  {value} of {total} events  {eta_formatted}` },
    Presets.shades_classic,
  )
  let started = false
  return {
    progress(events: number, of: number) {
      if (started) bar.update(events)
      else bar.start(of, events)
      started = true
    },
    end: () => bar.stop(),
  }
}
