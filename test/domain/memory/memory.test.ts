import t from 'tap'
import type { MemoryEvent } from '../../../src/domain/memory/events.ts'
import { decideRemember, memory, memoryLimit } from '../../../src/domain/memory/memory.ts'
import type { Sealed } from '../../../src/domain/sealed.ts'
import { deciding } from '../../support/given.ts'

const sealed = (box: string): Sealed => ({ $sealed: 'memory:org-1/user-1', box })
const remembered = (memoryId: string): MemoryEvent => ({
  type: 'MemoryRemembered',
  data: { memoryId, text: sealed(memoryId) },
})
const forgotten = (memoryId: string): MemoryEvent => ({
  type: 'MemoryForgotten',
  data: { memoryId },
})

const remember = (memoryId: string) =>
  decideRemember({ memoryId, text: sealed(memoryId) }, ({ box }) => box === memoryId)

t.test('remembering', async (t) => {
  const given = deciding(t, memory)
  given().when(remember('m-1')).emitsOnce(remembered('m-1'))
  given(remembered('m-1')).when(remember('m-2')).emitsOnce(remembered('m-2'))
  given(remembered('m-1')).when(remember('m-1')).changesNothing()
  given(remembered('m-1'), forgotten('m-1')).when(remember('m-1')).emitsOnce(remembered('m-1'))
})

t.test('the oldest makes room', async (t) => {
  const full = Array.from({ length: memoryLimit }, (_, n) => remembered(`m-${n}`))
  deciding(
    t,
    memory,
  )(...full)
    .when(remember('new'))
    .emitsOnce(forgotten('m-0'), remembered('new'))
})
