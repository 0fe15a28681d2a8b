import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

const compiled = resolve('dist/src')

/** What processes start with, besides the scripts that compiled code names. */
const mains = ['main.js', 'cli.js'].map((name) => join(compiled, name))

/** How compiled code names the script of a process or a thread. */
const scriptUrl = /new URL\('(?<script>\.\/[\w-]+\.js)', import\.meta\.url\)/g

/** Native packages, and those that are loaded only when they are used. */
const external = [
  '@eventstore/db-client',
  '@modelcontextprotocol/*',
  'gpt-tokenizer',
  'lmdb',
  'mongodb',
  'msgpackr-extract',
  'pdfjs-dist',
  'unpdf',
]

const scriptsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(scriptUrl)].map(([, script = '']) =>
    join(dirname(path), script),
  )

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
      const contents = scripts.replaceAll('import.meta.url', atPath)
      return { contents: commonjs ? names + contents : contents, loader: 'js' }
    }),
})

const bundleInto = async (folder: string): Promise<void> => {
  const { build } = await import('esbuild')
  const files = readdirSync(compiled, { recursive: true, encoding: 'utf8' })
  const modules = files.filter((file) => file.endsWith('.js')).map((file) => join(compiled, file))
  await build({
    entryPoints: [...mains, ...new Set(modules.flatMap(scriptsIn))],
    outdir: folder,
    outbase: compiled,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // Only the named exports of an ES module can be imported while the server runs.
    mainFields: ['module', 'main'],
    target: `node${process.versions.node}`,
    sourcemap: true,
    external,
    plugins: [located(folder)],
    logLevel: 'warning',
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
  })
}

/**
 * The compiled server, and each script that it starts, in few files: a process then starts with two
 * thirds of the CPU time. The folder lies in the project, as native packages are found from there.
 */
export const bundle = () => {
  const folder = mkdtempSync(resolve('dist/bundle-'))
  return {
    folder,
    written: bundleInto(folder),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}
