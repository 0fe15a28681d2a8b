/** Numbers in the first places of an array that has room for more. */
type Packed = { room: Uint32Array; count: number }

/** Lists up to this length have no room to grow, as most are short. */
const exact = 8
/** Longer lists than this are packed. */
const unpacked = 64
/** Engines keep a long part of a text as a reference to the whole text. */
const referring = 13

const owned = (key: string): string => (key.length < referring ? key : Buffer.from(key).toString())

/** Bytes of a list with so many numbers; not less. */
const plainBytes = (count: number): number => (count <= exact ? 64 + 8 * count : 208 + 12 * count)
const packedBytes = ({ room }: Packed): number => 256 + 4 * room.length

const packedOf = (list: ArrayLike<number>, count: number): Packed => {
  const room = new Uint32Array(Math.ceil(1.5 * count))
  room.set(list)
  return { room, count }
}

/** Growing lists of numbers below 2^32 by key, in little memory. */
export const numberLists = () => {
  const lists = new Map<string, number | number[] | Packed>()
  let bytes = 0

  const replace = (key: string, list: number[] | Packed, more: number): void => {
    lists.set(key, list)
    bytes += more
  }

  return {
    /** What they take in memory, in bytes; not less. */
    get size(): number {
      return bytes
    },
    add(key: string, number: number): void {
      const list = lists.get(key)
      if (list === undefined) {
        lists.set(owned(key), number)
        bytes += 130 + 2 * key.length
      } else if (typeof list === 'number') replace(key, [list, number], plainBytes(2))
      else if (Array.isArray(list)) {
        const { length } = list
        if (length === unpacked) {
          const packed = packedOf([...list, number], length + 1)
          replace(key, packed, packedBytes(packed) - plainBytes(length))
          return
        }
        if (length < exact) lists.set(key, [...list, number])
        else list.push(number)
        bytes += plainBytes(length + 1) - plainBytes(length)
      } else {
        if (list.count === list.room.length) {
          const { room } = packedOf(list.room, list.count)
          bytes += 4 * (room.length - list.room.length)
          list.room = room
        }
        list.room[list.count++] = number
      }
    },
    /** The numbers of a key in the order of adding. */
    get(key: string): ArrayLike<number> {
      const list = lists.get(key)
      if (list === undefined) return []
      if (typeof list === 'number') return [list]
      return Array.isArray(list) ? list : list.room.subarray(0, list.count)
    },
  }
}
