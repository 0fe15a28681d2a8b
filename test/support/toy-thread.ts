import { getPriority } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { serveTasks } from '../../src/support/serve-tasks.ts'

export type ToyTask =
  | { echo: number }
  | { keep: number }
  | { hang: true }
  | { fill: true }
  | { throws: string }
  | { priority: true }
  | { heapLimit: true }

const memory: string[][] = []

serveTasks<ToyTask, number>((task) => {
  if ('throws' in task) throw new Error(task.throws)
  if ('hang' in task) for (;;) Math.random()
  if ('fill' in task) for (let n = 0; ; n++) memory.push([`filled ${n}`])
  if ('priority' in task) return { answer: getPriority() }
  if ('heapLimit' in task) return { answer: getHeapStatistics().heap_size_limit }
  if ('echo' in task) return { answer: task.echo }
  memory.push(Array.from({ length: task.keep }, (_, n) => `kept ${memory.length} ${n}`))
  return { answer: memory.length }
})
