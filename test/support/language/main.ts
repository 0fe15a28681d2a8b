import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, type Kind, limits } from './kinds.ts'
import { pageFindings } from './page-findings.ts'
import { sourceFindings } from './source-findings.ts'

/**
 * Counts wording to avoid in the pages and sources of the current folder. Prints each count with
 * its limit and the places of a kind above it; `--list 20` prints 20 places of each kind. Exits
 * with 1 if a count is above its limit.
 */
const folders = [
  '.github',
  'bench',
  'commands',
  'console',
  'docs',
  'projections',
  'queries',
  'src',
  'test',
]

/** Texts by others, measurements, installed packages, and generated types. */
const skipped =
  /(^|\/)node_modules\/|^test\/fixtures\/|^bench\/results\/|^console\/src\/api\/schema\.d\.ts$/

const files = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
].filter((file) => /\.(md|m?ts|mjs|tsx)$/.test(file) && !skipped.test(file))

const findings = files.flatMap((file): Finding[] => {
  const text = readFileSync(file, 'utf8')
  return file.endsWith('.md') ? pageFindings(file, text) : sourceFindings(file, text)
})

const position = process.argv.indexOf('--list')
const listed = position < 0 ? 0 : Number(process.argv[position + 1])
const lines = (Object.keys(limits) as Kind[]).flatMap((kind) => {
  const places = findings.filter((finding) => finding.kind === kind)
  const count = places.reduce((sum, { amount = 1 }) => sum + amount, 0)
  const isOver = count > limits[kind]
  if (isOver) process.exitCode = 1
  const placeCount = isOver && listed === 0 ? 20 : listed
  const mark = isOver ? 'TOO MANY  ' : ''
  return [
    `${mark}${kind}: ${count} of at most ${limits[kind]}`,
    ...places.slice(0, placeCount).map(({ place }) => `    ${place}`),
  ]
})
process.stdout.write(`${lines.join('\n')}\n`)
