import t from 'tap'
import { memories } from '../../projections/memories.ts'
import { erasure } from '../../src/domain/erasure.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const text = { $sealed: 'memory:org-1/user-1', box: 'b' }

t.test('memories', async (t) => {
  const seen = projecting(t, memories, 'memory-org-1_user-1')
  const remembered = { type: 'MemoryRemembered', data: { memoryId: 'm-1', text } } as const
  seen(remembered).shows(
    {
      memory_id: 'm-1',
      organization_id: 'org-1',
      user_id: 'user-1',
      text,
      created_at: '2026-01-01T00:00:00.000Z',
    },
    'm-1',
  )
  seen(remembered, { type: 'MemoryForgotten', data: { memoryId: 'm-1' } }).showsNothing('m-1')
  const erased = {
    type: 'MemoriesErased',
    data: erasure.parse(sample('MemoriesErased').data),
  } as const
  seen(remembered, erased).showsNothing('m-1')
  const later = { type: 'MemoryRemembered', data: { memoryId: 'm-2', text } } as const
  seen(remembered, erased, later).shows({ memory_id: 'm-2' }, 'm-2')
})

t.test('every event it handles was given', async (t) => handlesAll(t, memories))
