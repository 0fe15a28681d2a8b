import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { z } from 'zod'

const checks = z.array(
  z.object({
    id: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
    errorMessage: z.string().optional(),
  }),
)

const folderName = /^server-(?<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/

const cli = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
const preload = new URL('./preload.js', import.meta.url).href

/**
 * Every scenario for servers that the package for conformance has for a version of the protocol,
 * unmodified, in a process of its own: what came of each check, by `scenario/check`.
 */
export const checkServer = async (t: Test, url: string, version: string) => {
  const folder = t.testdir()
  const child = spawn(
    process.execPath,
    ['--import', preload, cli, 'server', '--url', url, '--suite', 'all'].concat(
      ['--spec-version', version, '--output-dir', folder],
      ['--timeout', '60000'],
    ),
    { env: { PATH: process.env.PATH ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  await once(child, 'close')
  const results: { check: string; status: string; why: string }[] = []
  for (const name of (await readdir(folder)).toSorted()) {
    const scenario = folderName.exec(name)?.groups?.scenario
    if (scenario === undefined) throw new Error(`not a scenario: ${name}`)
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8')
    for (const { id, status, errorMessage } of checks.parse(JSON.parse(text)))
      results.push({ check: `${scenario}/${id}`, status, why: errorMessage ?? '' })
  }
  return { results, output }
}
