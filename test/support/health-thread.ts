import { request } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Polls the health of a server, each time on a new connection, until a message stops it. Then it
 * posts the milliseconds of each answer. Its own thread keeps the test's work out of the
 * measurement.
 */
const { url }: { url: string } = workerData
const pauseMs = 10

const latency = () =>
  new Promise<number>((resolve, reject) => {
    const began = performance.now()
    const sent = request(new URL('/api/health', url), { agent: false }, (reply) => {
      reply.resume().once('end', () => {
        if (reply.statusCode === 200) resolve(performance.now() - began)
        else reject(new Error(`health answered ${reply.statusCode}`))
      })
    })
    sent.once('error', reject)
    sent.end()
  })

let over = false
parentPort?.once('message', () => {
  over = true
})
const took: number[] = []
while (!over) {
  took.push(await latency())
  await after(pauseMs)
}
parentPort?.postMessage(took)
