import t from 'tap'
import {
  decideRecordOutage,
  decideRegisterKeys,
  installation,
} from '../../../src/domain/installation/installation.ts'
import { deciding } from '../../support/given.ts'

const check = { $sealed: 'installation:keys', box: 'a' }
const registered = { type: 'KeysRegistered', data: { check } } as const
const other = { ...check, box: 'b' }

t.test('keys are registered once', async (t) => {
  const given = deciding(t, installation)
  given().when(decideRegisterKeys(check)).emitsOnce(registered)
  given(registered).when(decideRegisterKeys(other)).emits()
})

t.test('every outage is recorded', async (t) => {
  const given = deciding(t, installation)
  const from = '2026-01-01T00:00:00.000Z'
  const outageEnded = { type: 'OutageEnded', data: { from } } as const
  given(registered).when(decideRecordOutage(from)).emits(outageEnded)
  given(registered, outageEnded).when(decideRecordOutage(from)).emits(outageEnded)
})
