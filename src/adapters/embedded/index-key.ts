/**
 * A name with what stands behind the organization in front, as in `id_category-organization`. Ids
 * begin with their time (UUIDv7), so what is new together stands together in an index, and a commit
 * touches few of its pages however many organizations it is for.
 */
const idFirst = (name: string, separator: string): string => {
  const at = name.indexOf(separator)
  return at === -1 ? name : `${name.slice(at + 1)}${separator}${name.slice(0, at)}`
}

/** Where a record stands in the index of streams; `revision` is that of its last event. */
export const streamKey = (stream: string, revision: number): [string, number] => [
  idFirst(stream, '_'),
  revision,
]

/** Where a data key stands. */
export const dataKeyKey = (name: string): string => idFirst(name, '/')

/** The name of a data key that stands there. */
export const dataKeyName = (key: string): string => {
  const at = key.lastIndexOf('/')
  return at === -1 ? key : `${key.slice(at + 1)}/${key.slice(0, at)}`
}
