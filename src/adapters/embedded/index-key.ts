/**
 * The key of a stream: the part after the organization comes first, as in
 * `id_category-organization`. Ids begin with their time (UUIDv7), so new streams are neighbours in
 * an index, and a commit touches few pages, whatever the number of organizations.
 */
const turned = (name: string, separator: string): string => {
  const at = name.indexOf(separator)
  return at === -1 ? name : `${name.slice(at + 1)}${separator}${name.slice(0, at)}`
}

let lastStream = ''
let lastName = ''

/** The name of a stream as its key begins with it. A stream is asked for several times in a row. */
export const idFirst = (stream: string): string => {
  if (stream !== lastStream) {
    lastName = turned(stream, '_')
    lastStream = stream
  }
  return lastName
}

/** The key of a record in the index of streams; `revision` is that of its last event. */
export const streamKey = (stream: string, revision: number): [string, number] => [
  idFirst(stream),
  revision,
]

const turnedBack = (key: string): string => {
  const at = key.lastIndexOf('/')
  return at === -1 ? key : `${key.slice(at + 1)}/${key.slice(0, at)}`
}

/** The key under which a data key is stored. */
export const dataKeyKey = (name: string): string => turned(name, '/')

/** The name of the data key under a key. */
export const dataKeyName = turnedBack

/** The id of a document as its key has it: `id/organization`. */
export const turnedId = (id: string): string => turned(id, '/')

/** The id of a document, of what its key has. */
export const idOfTurned = turnedBack
