import t from 'tap'
import type { OrganizationEvent } from '../../../src/domain/organization/events.ts'
import {
  decideAddOwner,
  decideColor,
  decideCreate,
  decideRemoveOwner,
  decideRename,
  organization,
  requireOrganization,
} from '../../../src/domain/organization/organization.ts'
import { deciding } from '../../support/given.ts'

const data = { name: 'Acme', ownerUserId: 'user-1', orchestratorAgentId: 'agent-1' }
const created: OrganizationEvent = { type: 'OrganizationCreated', data }
const ownerAdded: OrganizationEvent = { type: 'OwnerAdded', data: { userId: 'user-2' } }
const ownerRemoved = (userId: string): OrganizationEvent => ({
  type: 'OwnerRemoved',
  data: { userId },
})

t.test('creating', async (t) => {
  const given = deciding(t, organization)
  given().when(decideCreate(data)).emitsOnce(created)
  given().when(requireOrganization).refuses('organization_not_found')
  given(created).when(requireOrganization).changesNothing()
})

t.test('renaming', async (t) => {
  const given = deciding(t, organization)
  given(created)
    .when(decideRename('Apex'))
    .emitsOnce({ type: 'OrganizationRenamed', data: { name: 'Apex' } })
  given(created).when(decideRename('Acme')).changesNothing()
  given().when(decideRename('Apex')).refuses('organization_not_found')
})

t.test('a color, and none', async (t) => {
  const given = deciding(t, organization)
  const colored = { type: 'OrganizationColored', data: { color: '#0b6e4f' } } as const
  given(created).when(decideColor('#0b6e4f')).emitsOnce(colored)
  given(created, colored)
    .when(decideColor(null))
    .emitsOnce({ type: 'OrganizationColored', data: { color: null } })
  given(created).when(decideColor(null)).changesNothing()
  given().when(decideColor(null)).refuses('organization_not_found')
})

t.test('owners', async (t) => {
  const given = deciding(t, organization)
  given(created).when(decideAddOwner('user-2')).emitsOnce(ownerAdded)
  given(created).when(decideAddOwner('user-1')).changesNothing()
  given(created, ownerAdded).when(decideRemoveOwner('user-1')).emitsOnce(ownerRemoved('user-1'))
  given(created).when(decideRemoveOwner('user-2')).changesNothing()
  given(created).when(decideRemoveOwner('user-1')).refuses('last_owner')
  given(created, ownerAdded, ownerRemoved('user-1'))
    .when(decideRemoveOwner('user-2'))
    .refuses('last_owner')
})
