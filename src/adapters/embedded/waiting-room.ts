/** Readers at the end of the log that wait for the next commit. */
export const waitingRoom = () => {
  let seated: (() => void)[] = []
  return {
    wake(): void {
      const all = seated
      seated = []
      for (const stand of all) stand()
    },
    /** Adds a reader; it is also woken when the signal aborts. */
    seat(signal: AbortSignal | undefined) {
      let stand = () => {}
      const onAbort = () => {
        seated = seated.filter((one) => one !== stand)
        stand()
      }
      signal?.addEventListener('abort', onAbort)
      return {
        wait: () =>
          new Promise<void>((resolve) => {
            stand = resolve
            seated.push(resolve)
          }),
        leave: () => signal?.removeEventListener('abort', onAbort),
      }
    },
  }
}
