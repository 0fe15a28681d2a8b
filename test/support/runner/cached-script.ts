import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

/** As Node wraps a CommonJS module. */
export const wrapper = {
  start: '(function (exports, require, module, __filename, __dirname) {',
  end: '})',
}

/**
 * Runs a CommonJS script, wrapped and in ASCII, with V8's code cache, which the first of its
 * processes to exit in order leaves beside it. There is one for each set of V8's flags.
 */
export const runCached = (path: string): void => {
  const cache = `${path}.${cachedDataVersionTag()}.cache`
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    ...(cachedData ? { cachedData } : {}),
  })
  if (!cachedData || script.cachedDataRejected)
    process.once('exit', () => {
      const own = `${cache}.${process.pid}`
      // The runner may have removed the folder.
      try {
        writeFileSync(own, script.createCachedData())
        renameSync(own, cache)
      } catch {}
    })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path))
}
