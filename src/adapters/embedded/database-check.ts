import { open } from 'lmdb'

/**
 * The main program of a process that opens the database in a directory, read-only, and prints how
 * many bytes its file must have. lmdb ends its process, without an error, on a damaged file.
 */
const [path = ''] = process.argv.slice(2)
const root = open({ path, noSubdir: false, readOnly: true })
const { lastPageNumber = 0, pageSize = 0 } = root.getStats() as Record<string, number>
process.stdout.write(`${(lastPageNumber + 1) * pageSize}`)
