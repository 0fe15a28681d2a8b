/** Work by its key: asked for again while it is under way, it answers the first outcome. */
export const singleFlight = <Outcome>() => {
  const running = new Map<string, Promise<Outcome>>()
  return (key: string, work: () => Promise<Outcome>): Promise<Outcome> => {
    const same = running.get(key)
    if (same) return same
    const first = work().finally(() => running.delete(key))
    running.set(key, first)
    return first
  }
}
