/** The names of streams inside one installation's part of a server that others use too. */
export type Namespace = {
  /** What the names of all its streams begin with on the server. */
  prefix: string
  onServer(stream: string): string
  has(streamId: string): boolean
  /** The name of one of its streams without the prefix. */
  inPort(streamId: string): string
}

/** A dot ends a namespace, so that none is the beginning of another. */
const pattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export const isNamespace = (text: string): boolean => pattern.test(text)

/** @throws TypeError for what `isNamespace` refuses. */
export const namespaceOf = (name: string): Namespace => {
  if (!isNamespace(name))
    throw new TypeError(`EventStoreDB: ${JSON.stringify(name)} is not a namespace`)
  const prefix = `${name}.`
  return {
    prefix,
    onServer: (stream) => prefix + stream,
    has: (streamId) => streamId.startsWith(prefix),
    inPort: (streamId) => streamId.slice(prefix.length),
  }
}
