import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { serverOptions } from '../../../bench/processes.ts'
import { user } from '../client.ts'
import { platform, superAdminKey } from '../platform.ts'
import { quickStart } from '../server-script.ts'
import { wrapper } from './cached-script.ts'

const compiled = resolve('dist/src')
const cachedScript = new URL('cached-script.js', import.meta.url).href

/** What processes start with, besides the scripts that compiled code names. */
const mains = ['main.js', 'cli.js'].map((name) => join(compiled, name))

/** How compiled code names the script of a process or a thread. */
const scriptUrl = /new URL\('(?<script>\.\/[\w-]+\.js)', import\.meta\.url\)/g

/** Native packages, one that evaluates its own names, and those that are loaded on first use. */
const external = [
  '@eventstore/db-client',
  '@modelcontextprotocol/*',
  'gpt-tokenizer',
  'lmdb',
  'mongodb',
  'msgpackr-extract',
  'ordered-binary',
  'pdfjs-dist',
  'unpdf',
]

const scriptsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(scriptUrl)].map(([, script = '']) =>
    join(dirname(path), script),
  )

/** The WebAssembly module starts without its `await`: a script has none at the top level. */
const synchronous = (text: string): string =>
  text
    .replace('import init, {', 'import { initSync as init,')
    .replace('await init({ module_or_path:', 'init({ module:')

/** Modules find files beside their own path, not beside the bundle. Scripts are in the bundle. */
const located = (folder: string): Plugin => ({
  name: 'located',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const atPath = JSON.stringify(pathToFileURL(path))
      const atBundle = JSON.stringify(pathToFileURL(join(folder, relative(compiled, path))))
      const own = path.startsWith(compiled)
      const commonjs = /\b__(dir|file)name\b/.test(text) && !/^(import|export) /m.test(text)
      const names = `const __filename = ${JSON.stringify(path)}, __dirname = ${JSON.stringify(dirname(path))};`
      const scripts = own ? text.replaceAll(scriptUrl, `new URL('$1', ${atBundle})`) : text
      const contents = synchronous(scripts).replaceAll('import.meta.url', atPath)
      return { contents: commonjs ? names + contents : contents, loader: 'js' }
    }),
})

/** It uses packages that can be imported only, not required. */
const onlyImports = join(compiled, 'rag/document-process.js')

/** Starts a script with its code cache. */
const loader = (
  script: string,
): string => `import { runCached } from ${JSON.stringify(cachedScript)}
runCached(${JSON.stringify(script)})
`

const bundleInto = async (folder: string): Promise<void> => {
  const { build } = await import('esbuild')
  const files = readdirSync(compiled, { recursive: true, encoding: 'utf8' })
  const modules = files.filter((file) => file.endsWith('.js')).map((file) => join(compiled, file))
  const scripts = [...mains, ...new Set(modules.flatMap(scriptsIn))]
  const cached = scripts.filter((path) => path !== onlyImports)
  const options: BuildOptions = {
    outdir: folder,
    outbase: compiled,
    bundle: true,
    platform: 'node',
    // Only the named exports of an ES module can be imported while the server runs.
    mainFields: ['module', 'main'],
    target: `node${process.versions.node}`,
    external,
    plugins: [located(folder)],
    logLevel: 'warning',
  }
  await build({
    ...options,
    entryPoints: [onlyImports],
    format: 'esm',
    splitting: true,
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
  })
  await build({
    ...options,
    entryPoints: cached,
    format: 'cjs',
    // A script from a code cache cannot import.
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: wrapper.start },
    footer: { js: wrapper.end },
    outExtension: { '.js': '.cjs' },
  })
  for (const script of cached) {
    const path = join(folder, relative(compiled, script))
    writeFileSync(path, loader(path.replace(/\.js$/, '.cjs')))
  }
}

/**
 * The first life of the server leaves its code cache: most tests kill theirs, which then leave
 * none. What it executes is in the cache, so it starts as tests start it, and answers a chat.
 */
const warm = async (folder: string): Promise<void> => {
  const DATA_DIR = join(folder, 'first-life')
  const options = [...serverOptions, ...quickStart, join(folder, 'main.js')]
  const child = spawn(process.execPath, options, {
    env: { DATA_DIR, HOST: '127.0.0.1', PORT: '0', SUPER_ADMIN_KEY: superAdminKey, DEMO: 'off' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, url } = JSON.parse(line)
    if (msg !== 'ready') continue
    try {
      const key = await (await platform(url).organization()).key()
      await key.chat({ messages: user('Hello') })
    } finally {
      child.kill()
    }
  }
  await exit
}

/**
 * The compiled server, and each script that it starts, as a file each with a code cache: a process
 * then starts with a third of the CPU time. The folder lies in the project, as native packages are
 * found from there.
 */
export const bundle = () => {
  const folder = mkdtempSync(resolve('dist/bundle-'))
  return {
    folder,
    written: bundleInto(folder).then(() => warm(folder)),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}
