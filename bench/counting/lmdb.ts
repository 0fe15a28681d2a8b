import { basename } from 'node:path'
import { open as openUncounted } from 'lmdb'
import { countCalls } from './counters.ts'

/** lmdb's `open`, with calls to the databases of the environment counted. */
export const open = (...given: Parameters<typeof openUncounted>) => {
  const root = openUncounted(...given)
  const [{ path }] = given
  const where = basename(path ?? '') === 'log' ? 'log' : 'views'
  const databases = Object.getPrototypeOf(root)
  countCalls(databases, ['put', 'remove'], `${where}Puts`)
  countCalls(databases, ['get', 'doesExist', 'getRange', 'getKeysCount'], `${where}Gets`)
  countCalls(databases, ['transactionSync', 'batch'], `${where}Commits`)
  return root
}
