type Close = () => unknown

/** What has been opened so far. */
export type Disposal = {
  /** Runs `close` before the closes that were added earlier. */
  add(close: Close): void
  /** Adds the `close` of a part, and answers the part. */
  use<Part extends { close(): unknown }>(part: Part): Part
}

/** Calls the functions one after another, the last one first. @throws the first error */
const closeAll = async (closes: readonly Close[]): Promise<void> => {
  const errors: unknown[] = []
  for (const close of closes.toReversed())
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors[0]
}

/**
 * Opens parts that rest on each other, and closes them in reverse order: when `close` of the result
 * is called, and at once when a later step of `open` fails, which then rejects with its own error.
 * A close that fails keeps no other from running; the first error is thrown after all have run.
 * Closing twice closes once.
 */
export const opening = async <Opened extends object>(
  open: (disposal: Disposal) => Promise<Opened>,
): Promise<Opened & { close(): Promise<void> }> => {
  const closes: Close[] = []
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= closeAll(closes)
    return closing
  }
  const disposal: Disposal = {
    add(close) {
      closes.push(close)
    },
    use(part) {
      closes.push(() => part.close())
      return part
    },
  }
  try {
    return { ...(await open(disposal)), close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}
