/** The number of hashes or entries in a full tile (C2SP tlog-tiles). */
export const tileWidth = 256

/** The `n`th tile of a level, with the first `width` of its hashes or entries. */
export type Tile = { n: number; width: number }

const groups = /^((?:x\d{3}\/)*)(\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** A tile's number and width in a path: `x001/x234/067`, and `.p/<width>` where it is not full. */
export const tilePath = ({ n, width }: Tile): string => {
  const digits = String(n).padStart(3 * Math.ceil(String(n).length / 3), '0')
  const path = digits.replace(/\d{3}(?=\d)/g, 'x$&/')
  return width === tileWidth ? path : `${path}.p/${width}`
}

/** Undefined when the path is not in the canonical form. */
export const parsedTilePath = (path: string): Tile | undefined => {
  const [, high = '', low = '', partial] = groups.exec(path) ?? []
  const n = Number(high.replace(/\D/g, '') + low)
  const width = partial === undefined ? tileWidth : Number(partial)
  if (low === '' || !Number.isSafeInteger(n) || (partial !== undefined && width >= tileWidth))
    return undefined
  return tilePath({ n, width }) === path ? { n, width } : undefined
}
