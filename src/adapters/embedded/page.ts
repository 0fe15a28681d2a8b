/** What the trees of lmdb 3 (data format 2) look like in their file, in so far as reads rely on it. */
export const headerBytes = 24
export const branch = 1
export const leaf = 2
const overflow = 4
const meta = 8
const big = 1
const subDatabase = 2
const magic = 0xbeefc0de
const dataVersion = 2
const nodeHeader = 8
/** What a leaf has of a large value: its first page, a transaction, how many pages. */
const placeBytes = 24
const maxKeyBytes = 1_978
/** The root of an empty tree. */
const none = 0xffff_ffff_ffff_ffffn

export type Page = { bytes: Buffer; words: Uint16Array }

export type Tree = { root: number | undefined; depth: number }

/** One of the two states that the file keeps at its beginning. */
export type Meta = { transaction: number; pageSize: number; last: number; free: Tree; main: Tree }

/**
 * What is wrong with a list of free pages: how many entries, then page numbers, 0 where one was
 * taken, and negative lengths before the first page of a block.
 */
export const freeListFault = ({ words }: Page, from: number, size: number, last: number) => {
  const first = from / 2
  const listed = numberAt(words, first)
  if (size % 8 !== 0 || words[first + 3] !== 0 || listed > size / 8 - 1) return true
  for (let at = first + 4; at < first + 4 + 4 * listed; at += 4) {
    const sign = words[at + 3]
    if (sign === 0xffff) continue
    const number = numberAt(words, at)
    if (sign !== 0 || number === 1 || number > last) return true
  }
  return false
}

/** 48 bits: page numbers in nodes, and far more than a file of 1 TB has. */
const numberAt = (words: Uint16Array, at: number): number =>
  (words[at] ?? 0) + (words[at + 1] ?? 0) * 0x1_0000 + (words[at + 2] ?? 0) * 0x1_0000_0000

export const emptyPage = (size: number): Page => {
  const bytes = Buffer.from(new ArrayBuffer(size))
  return { bytes, words: new Uint16Array(bytes.buffer) }
}

export const treeIn = (bytes: Buffer, at: number): Tree => {
  const root = bytes.readBigUInt64LE(at + 40)
  return { root: root === none ? undefined : Number(root), depth: bytes.readUInt16LE(at + 6) }
}

/** Undefined when the bytes are not the state of the file's page `n` (0 or 1). */
export const metaIn = (bytes: Buffer, n: number): Meta | undefined => {
  const at = headerBytes
  const sound =
    bytes.readBigUInt64LE(0) === BigInt(n) &&
    bytes.readUInt16LE(18) === meta &&
    bytes.readUInt32LE(at) === magic &&
    bytes.readUInt32LE(at + 4) === dataVersion
  if (!sound) return undefined
  const transaction = Number(bytes.readBigUInt64LE(at + 128))
  if (transaction % 2 !== n && transaction !== 0) return undefined
  return {
    transaction,
    pageSize: bytes.readUInt32LE(at + 24),
    last: Number(bytes.readBigUInt64LE(at + 120)),
    free: treeIn(bytes, at + 24),
    main: treeIn(bytes, at + 72),
  }
}

export const countOf = ({ words }: Page): number => (words[10] ?? 0) >> 1

const nodeAt = ({ words }: Page, n: number): number =>
  headerBytes + (words[headerBytes / 2 + n] ?? 0)

/** Where the key of a node begins. */
export const keyFrom = (page: Page, n: number): number => nodeAt(page, n) + nodeHeader

/** How many bytes the key has that begins there. */
export const keyBytesAt = ({ words }: Page, from: number): number => words[from / 2 - 1] ?? 0

/** The bytes of a key, as a range of the page. */
export const keyAt = (page: Page, n: number): { from: number; to: number } => {
  const from = keyFrom(page, n)
  return { from, to: from + keyBytesAt(page, from) }
}

/** The page below a node of a branch. */
export const childAt = (page: Page, n: number): number => numberAt(page.words, nodeAt(page, n) / 2)

const sizeAt = (page: Page, node: number): number => page.bytes.readUInt32LE(node)

/** Whether the value of a node of a leaf has pages of its own. */
export const isLarge = (page: Page, n: number): boolean =>
  n < countOf(page) && ((page.words[nodeAt(page, n) / 2 + 2] ?? 0) & big) !== 0

/** The value of a node of a leaf: its bytes in the page, or where it is if it is a large one. */
export const valueAt = (page: Page, n: number) => {
  const node = nodeAt(page, n)
  const { to } = keyAt(page, n)
  const size = sizeAt(page, node)
  return isLarge(page, n)
    ? {
        size,
        page: Number(page.bytes.readBigUInt64LE(to)),
        pages: Number(page.bytes.readBigUInt64LE(to + 16)),
      }
    : { size, from: to, to: to + size }
}

/**
 * What is wrong with a page of a tree: with anything that lmdb would follow out of the page, out of
 * the file, or to a failed assertion. Undefined when lmdb can read it.
 */
export const faultOf = (page: Page, number: number, level: number, last: number) => {
  const { words, bytes } = page
  const size = bytes.length
  const room = size - headerBytes
  const [lower = 0, upper = 0] = [words[10], words[11]]
  const flags = words[9] ?? 0
  if (numberAt(words, 0) !== number || words[3] !== 0) return 'it has another page number'
  if (flags !== (level === 1 ? leaf : branch)) return 'it is of another kind'
  if (lower % 2 !== 0 || lower > upper || upper > room) return 'its bounds are impossible'
  const count = lower >> 1
  if (count < (flags === branch ? 2 : 1)) return 'it is empty'
  let used = 0
  for (let n = 0; n < count; n++) {
    const start = words[headerBytes / 2 + n] ?? 0
    if (start < upper || start % 2 !== 0 || start + nodeHeader > room) return 'a node is outside'
    const node = (start + headerBytes) / 2
    const keyBytes = words[node + 3] ?? 0
    if (keyBytes > maxKeyBytes || (keyBytes === 0 && (flags === leaf || n > 0)))
      return 'a key is of an impossible length'
    if (flags === branch) {
      const child = numberAt(words, node)
      if (start + nodeHeader + keyBytes > room || child < 2 || child > last)
        return 'a node is outside'
      used += (nodeHeader + keyBytes + 1) & ~1
      continue
    }
    const kind = words[node + 2] ?? 0
    if (kind > subDatabase) return 'a node is of an unknown kind'
    const held = kind === big ? placeBytes : (words[node] ?? 0) + (words[node + 1] ?? 0) * 0x1_0000
    if (start + nodeHeader + keyBytes + held > room) return 'a value is outside'
    used += (nodeHeader + keyBytes + held + 1) & ~1
  }
  // Nodes lie side by side: lmdb moves them by their sizes.
  return used === room - upper ? undefined : 'its nodes overlap'
}

/** The same of the first page of a large value, of which the first bytes are enough. */
export const largeFaultOf = (
  bytes: Buffer,
  { page: number, pages, size }: { page: number; pages: number; size: number },
  meta: Meta,
) => {
  const needed = Math.floor((headerBytes - 1 + size) / meta.pageSize) + 1
  if (bytes.readBigUInt64LE(0) !== BigInt(number)) return 'it has another page number'
  if (bytes.readUInt16LE(18) !== overflow) return 'it is of another kind'
  if (pages < needed || pages !== bytes.readUInt32LE(20) || number + pages > meta.last + 1)
    return 'it is of an impossible length'
  return undefined
}
