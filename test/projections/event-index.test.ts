import t from 'tap'
import { eventIndex, partSize, stretchSize } from '../../projections/event-index.ts'
import { projecting } from '../support/given.ts'

const opened = (position: number, at?: string) => ({
  type: 'BoxOpened',
  data: {},
  position,
  ...(at ? { at } : {}),
})

t.test('parts of the log that hold events, by stretches of positions', async (t) => {
  const seen = projecting(t, eventIndex, 'box-org-1_b-1')
  const first = [opened(0), opened(partSize - 1), opened(3 * partSize)]
  seen(...first).shows({ organization_id: 'org-1', stretch: 0, parts: [0, 3] }, 'org-1/0')
  const second = opened(stretchSize + 5 * partSize)
  seen(...first, second).shows({ stretch: 0, parts: [0, 3] }, 'org-1/0')
  seen(...first, second).shows({ stretch: 1, parts: [5] }, 'org-1/1')
})

t.test('no event of a stretch is from before or after its whole minutes', async (t) => {
  const seen = projecting(t, eventIndex, 'box-org-1_b-1')
  const at = (text: string) => Date.parse(`2026-01-01T${text}Z`)
  seen(
    opened(0, '2026-01-01T00:00:30.000Z'),
    opened(1, '2026-01-01T00:02:01.000Z'),
    opened(2, '2026-01-01T00:01:00.000Z'),
  ).shows({ parts: [0], since: at('00:00:00'), until: at('00:03:00') })
})
