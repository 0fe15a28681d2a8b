import { nodeHash, rootOf } from './merkle.ts'

/** Grows a tree leaf by leaf, keeping no more than its right edge. */
export const growing = () => {
  const edge: (Buffer | undefined)[] = []
  return {
    add(leaf: Buffer) {
      let hash = leaf
      let height = 0
      for (let left = edge[0]; left; left = edge[++height]) {
        hash = nodeHash(left, hash)
        edge[height] = undefined
      }
      edge[height] = hash
    },
    root(): Buffer {
      let root: Buffer | undefined
      for (const left of edge) root = left && root ? nodeHash(left, root) : (left ?? root)
      return root ?? rootOf([])
    },
  }
}
