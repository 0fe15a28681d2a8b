import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'

const pageBytes = 4_096

/** Numbers that look random and are the same for the same seed. */
export const randomNumbers = (seed: number) => {
  let state = seed * 2_654_435_761 + 1
  return (below: number): number => {
    state = (Math.imul(state | 0, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Random = ReturnType<typeof randomNumbers>

const changed = <T>(file: string, work: (fd: number, pages: number) => T): T => {
  const fd = openSync(file, 'r+')
  try {
    return work(fd, Math.floor(fstatSync(fd).size / pageBytes))
  } finally {
    closeSync(fd)
  }
}

/** Pages of a data file of lmdb that hold something: a tree, the beginning of a value, the head. */
const usedPages = (fd: number, pages: number): number[] => {
  const header = Buffer.alloc(24)
  return Array.from({ length: pages }, (_, n) => n).filter((n) => {
    readSync(fd, header, 0, 24, n * pageBytes)
    return n < 2 || (header.readBigUInt64LE() === BigInt(n) && header.readUInt16LE(18) !== 0)
  })
}

/** Damages a used page, chosen by chance: zeroes, random bytes, or a bit; says what it did. */
export const spoil = (file: string, random: Random): string =>
  changed(file, (fd, pages) => {
    const used = usedPages(fd, pages)
    const page = used[random(used.length)] ?? 0
    const write = (bytes: Buffer, at: number) =>
      writeSync(fd, bytes, 0, bytes.length, page * pageBytes + at)
    // Half of them where the page says what it holds.
    const at = random(random(2) === 0 ? 128 : pageBytes)
    const how = random(3)
    if (how === 0) {
      write(Buffer.alloc(pageBytes), 0)
      return `page ${page} zeroed`
    }
    if (how === 1) {
      const length = Math.min(1 << random(13), pageBytes - at)
      write(Buffer.from(Array.from({ length }, () => random(256))), at)
      return `page ${page}: ${length} random bytes at ${at}`
    }
    const byte = Buffer.alloc(1)
    readSync(fd, byte, 0, 1, page * pageBytes + at)
    byte[0] = (byte[0] ?? 0) ^ (1 << random(8))
    write(byte, at)
    return `page ${page} flipped at ${at}`
  })

/** Cuts a file off behind a used page, chosen by chance; says where. */
export const cutOff = (file: string, random: Random): string =>
  changed(file, (fd, pages) => {
    const used = usedPages(fd, pages)
    const page = used[random(used.length)] ?? 0
    ftruncateSync(fd, page * pageBytes)
    return `cut off before page ${page}`
  })

/** Flips a bit of a text, wherever it begins in a file; says in how many places. */
export const flipText = (file: string, text: string): number =>
  changed(file, (fd) => {
    const bytes = readFileSync(file)
    let places = 0
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) {
      writeSync(fd, Buffer.from([(bytes[at + 1] ?? 0) ^ 1]), 0, 1, at + 1)
      places++
    }
    return places
  })
