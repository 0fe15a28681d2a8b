/** What readers at the end of the log wait for: the next commit, or the close of the store. */
export const condition = () => {
  let waiting: (() => void)[] = []
  return {
    notifyAll(): void {
      const all = waiting
      waiting = []
      for (const wake of all) wake()
    },
    /** One that waits, as often as it likes; it is also woken when the signal aborts. */
    waiter(signal: AbortSignal | undefined) {
      let wake = () => {}
      const onAbort = () => {
        waiting = waiting.filter((other) => other !== wake)
        wake()
      }
      signal?.addEventListener('abort', onAbort)
      return {
        wait: () =>
          new Promise<void>((resolve) => {
            wake = resolve
            waiting.push(resolve)
          }),
        end: () => signal?.removeEventListener('abort', onAbort),
      }
    },
  }
}
