import { eventStoreDbDouble } from './double.ts'

// The double in a process of its own: says its URL in one line, and ends with its standard input.
const { url, stop } = await eventStoreDbDouble({
  neighbours: process.argv.includes('--neighbours'),
})
process.stdout.write(`${url}\n`)
process.stdin.resume().once('end', stop)
