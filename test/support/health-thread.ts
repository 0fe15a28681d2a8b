import { request } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Asks for the health of a server again and again, each time on a new connection, until it is told to
 * stop; then posts how long each answer took in milliseconds. It has a thread of its own, so that what
 * a test does meanwhile is not measured.
 */
const { url }: { url: string } = workerData
const pauseMs = 10

const asked = () =>
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
  took.push(await asked())
  await after(pauseMs)
}
parentPort?.postMessage(took)
