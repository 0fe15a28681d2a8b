import { readFileSync } from 'node:fs'
import t from 'tap'
import { allocatorSettings, serverOptions } from '../../bench/processes.ts'

const options = ['--enable-source-maps', ...serverOptions]

t.test('npm start, the image and the tests start node alike', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  t.ok(scripts.start.endsWith(` node ${options.join(' ')} dist/src/main.js`), scripts.start)
  const command = JSON.stringify(['node', ...options, 'dist/src/main.js']).replaceAll(',', ', ')
  t.ok(dockerfile.includes(`CMD ${command}\n`), command)
  const settings = Object.entries(allocatorSettings).map(([name, value]) => `${name}=${value}`)
  t.ok(dockerfile.includes(`ENV ${settings.join(' ')}\n`), settings.join(' '))
})
