import t from 'tap'
import type { MemoryEvent } from '../../../src/domain/memory/events.ts'
import {
  decideEraseMemories,
  decideRemember,
  memory,
  memoryLimit,
} from '../../../src/domain/memory/memory.ts'
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
  decideRemember({ memoryId, text: sealed(memoryId) }, ({ box }) => box === memoryId, {
    turnBeganAt: '2026-01-01T00:00:00.000Z',
    generation: 0,
  })

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

const by = {
  deletedBy: 'user-9',
  delegated: true,
  keyIds: ['memory:org-1/user-1'],
  destroyedAt: '2026-01-01T00:00:05.000Z',
}
const erased = (...memoryIds: string[]): MemoryEvent => ({
  type: 'MemoriesErased',
  data: { ...by, scope: ['memories'], memories: memoryIds.length, credentials: 0, memoryIds },
})

t.test('erases all memories, those that were forgotten before too', async (t) => {
  const given = deciding(t, memory)
  const erase = decideEraseMemories({ ...by, generation: 0 })
  given(remembered('m-1'), remembered('m-2')).when(erase).emitsOnce(erased('m-1', 'm-2'))
  given(remembered('m-1'), forgotten('m-1')).when(erase).emitsOnce(erased())
  given().when(erase).changesNothing()
})

t.test('leaves memories whose key was not destroyed', async (t) => {
  const given = deciding(t, memory)
  const history = [remembered('m-1'), erased('m-1'), remembered('m-2')]
  given(...history)
    .when(decideEraseMemories({ ...by, generation: 0 }))
    .changesNothing()
  given(...history)
    .when(decideEraseMemories({ ...by, generation: 1 }))
    .emitsOnce(erased('m-2'))
})

t.test('turns that began before an erasure remember nothing', async (t) => {
  const given = deciding(t, memory)
  const since = (turnBeganAt: string, generation = 1) =>
    decideRemember({ memoryId: 'm-2', text: sealed('m-2') }, () => false, {
      turnBeganAt,
      generation,
    })
  const history = [remembered('m-1'), erased('m-1')]
  given(...history)
    .when(since('2026-01-01T00:00:04.999Z'))
    .changesNothing()
  given(...history)
    .when(since('2026-01-01T00:00:05.000Z'))
    .changesNothing()
  given(...history)
    .when(since('2026-01-01T00:00:05.001Z'))
    .emits(remembered('m-2'))
  given(...history)
    .when(since('2026-01-01T00:00:05.001Z', 0))
    .changesNothing()
})
