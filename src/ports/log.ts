type Write = (fields: Readonly<Record<string, unknown>>, text: string) => void

/** Where the process says what happens to it: pino, or nothing. Errors go under `err`. */
export type Log = { info: Write; warn: Write; error: Write }

const nothing: Write = () => undefined

export const silent: Log = { info: nothing, warn: nothing, error: nothing }
