import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/**
 * Builds the console into dist/console: `node console/build.mjs`. With `--if-stale` it does nothing
 * if index.html there is newer than every file in console/ and package-lock.json.
 */
const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '..')
const output = join(root, 'dist/console')
const page = join(output, 'index.html')

/** Written by api-types.mjs; types are not part of the bundle. */
const generated = join(folder, 'src/api/schema.d.ts')

const isStale = () => {
  if (!existsSync(page)) return true
  const builtAt = statSync(page).mtimeMs
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => file !== generated)
  return [...sources, join(root, 'package-lock.json')].some(
    (file) => statSync(file).mtimeMs > builtAt,
  )
}

/** The server sends these to browsers that accept them. */
const compress = (file) => {
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
}

/**
 * Puts a build in place: new assets first, then the page that names them, and former assets go
 * last. So a page that is loading meanwhile, or another build, never misses one.
 */
const put = (built) => {
  const assets = join(output, 'assets')
  mkdirSync(assets, { recursive: true })
  const names = readdirSync(join(built, 'assets'))
  for (const name of names) renameSync(join(built, 'assets', name), join(assets, name))
  renameSync(join(built, 'index.html'), page)
  for (const name of readdirSync(assets))
    if (!names.includes(name)) rmSync(join(assets, name), { force: true })
}

if (!process.argv.includes('--if-stale') || isStale()) {
  const started = performance.now()
  const built = join(root, 'dist', `console-${process.pid}`)
  try {
    const { build } = await import('vite')
    const configFile = join(folder, 'vite.config.ts')
    await build({ configFile, logLevel: 'warn', build: { outDir: built } })
    const assets = join(built, 'assets')
    const texts = readdirSync(assets).filter((name) => /\.(js|css|svg)$/.test(name))
    for (const name of texts) compress(join(assets, name))
    put(built)
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
  process.stdout.write(`The console was built in ${Math.round(performance.now() - started)} ms\n`)
}
