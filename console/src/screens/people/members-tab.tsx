import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api } from '../../api/client.ts'
import { ApiError, messageOf } from '../../api/problem.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ConfirmDialog, Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Menu, type MenuAction } from '../../components/menu.tsx'
import { notify } from '../../components/messages.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { pagePaging } from './page-paging.ts'
import styles from './people.module.css'
import { type Member, membersKey, membersQuery } from './people-queries.ts'

const route = getRouteApi('/people')

const roles = { OWNER: 'Owner', ADMIN: 'Admin', MEMBER: 'Member' } as const
type Role = keyof typeof roles

const inviteRoles = [
  { id: 'MEMBER', label: 'Member', hint: 'Uses agents' },
  { id: 'ADMIN', label: 'Admin', hint: 'Manages everything but owners' },
] as const

const nameOf = ({ name, email, user_id }: Member): string => name ?? email ?? user_id

const InviteDialog = ({ onClose }: { onClose: () => void }) => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<'ADMIN' | 'MEMBER'>('MEMBER')
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const fields = error instanceof ApiError ? error.fields : {}
  const invite = async () => {
    setPending(true)
    setError(undefined)
    try {
      await api.POST('/api/admin/organizations/{organization_id}/members', {
        params: { path: { organization_id: organizationId } },
        body: { email: email.trim(), role, ...(name.trim() ? { name: name.trim() } : {}) },
      })
      await client.invalidateQueries({ queryKey: membersKey(organizationId) })
      notify(`${email.trim()} is invited`)
      onClose()
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  return (
    <Dialog isOpen onOpenChange={onClose} title="Invite a member">
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          void invite()
        }}
      >
        <TextField
          label="Email"
          type="email"
          value={email}
          onChange={setEmail}
          autoFocus
          error={fields.email}
        />
        <TextField
          label="Name"
          description="Optional; by default the part of the address before the @"
          value={name}
          onChange={setName}
          error={fields.name}
        />
        <Select label="Role" options={inviteRoles} value={role} onChange={setRole} />
        {error !== undefined && !fields.email && !fields.name && (
          <p role="alert" className="bad">
            {messageOf(error)}
          </p>
        )}
        <div className={styles.formActions}>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={isPending || email.trim() === ''}>
            Invite
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

type Pending = { kind: 'remove'; member: Member } | { kind: 'role'; member: Member; role: Role }

const MemberDialog = ({ pending, onClose }: { pending: Pending; onClose: () => void }) => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  const { member } = pending
  const name = nameOf(member)
  const params = { path: { organization_id: organizationId, user_id: member.user_id } }
  const refresh = () => client.invalidateQueries({ queryKey: membersKey(organizationId) })
  const remove = async () => {
    await api.DELETE('/api/admin/organizations/{organization_id}/members/{user_id}', { params })
    await refresh()
    notify(`${name} is removed`)
  }
  const change = async (role: Role) => {
    await api.PATCH('/api/admin/organizations/{organization_id}/members/{user_id}', {
      params,
      body: { role },
    })
    await refresh()
    notify(`${name} has the role ${roles[role].toLowerCase()}`)
  }
  if (pending.kind === 'role')
    return (
      <ConfirmDialog
        isOpen
        onOpenChange={onClose}
        title={`Change the role of ${name} to ${roles[pending.role].toLowerCase()}?`}
        action="Change"
        kind="primary"
        onConfirm={() => change(pending.role)}
      >
        It takes effect with the next request.
      </ConfirmDialog>
    )
  const isInvitation = member.status === 'pending'
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={isInvitation ? `Remove the invitation of ${name}?` : `Remove ${name}?`}
      action="Remove"
      onConfirm={remove}
    >
      {isInvitation
        ? 'It cannot be accepted any more. You can invite the person again.'
        : 'The member loses access at once. The organization’s keys that the member backs are revoked.'}
    </ConfirmDialog>
  )
}

const actionsOf = (member: Member, choose: (pending: Pending) => void): MenuAction[] => [
  ...(['OWNER', 'ADMIN', 'MEMBER'] as const)
    .filter((role) => role !== member.role && (role !== 'OWNER' || member.status === 'active'))
    .map((role) => ({
      id: role,
      label: `Change role to ${roles[role].toLowerCase()}`,
      onAction: () => choose({ kind: 'role', member, role }),
    })),
  {
    id: 'remove',
    label: member.status === 'pending' ? 'Remove invitation' : 'Remove',
    isDangerous: true,
    onAction: () => choose({ kind: 'remove', member }),
  },
]

const columnsFor = (choose: ((pending: Pending) => void) | undefined): Column<Member>[] => [
  {
    id: 'name',
    header: 'Name',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <span dir="auto" title={nameOf(original)}>
        {nameOf(original)}
      </span>
    ),
  },
  {
    id: 'email',
    header: 'Email',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => original.email ?? '–',
  },
  { id: 'role', header: 'Role', cell: ({ row: { original } }) => roles[original.role] },
  {
    id: 'status',
    header: 'Status',
    cell: ({ row: { original } }) => (
      <Status
        status={original.status}
        label={original.status === 'pending' ? 'Invited' : 'Active'}
      />
    ),
  },
  {
    id: 'created_at',
    header: 'Added',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <Time at={original.created_at} />,
  },
  ...(choose
    ? [
        {
          id: 'actions',
          header: () => <span className="visually-hidden">Actions</span>,
          meta: { align: 'end' },
          cell: ({ row: { original } }) => (
            <Menu
              label={`Actions for ${nameOf(original)}`}
              trigger={<IconButton icon="more" label={`Actions for ${nameOf(original)}`} />}
              actions={actionsOf(original, choose)}
            />
          ),
        } satisfies Column<Member>,
      ]
    : []),
]

/** The members of the organization, and who was invited. */
export const MembersTab = () => {
  const { organizationId, can, isManager } = useSession()
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(membersQuery(organizationId, page))
  const [isInviting, setInviting] = useState(false)
  const [pending, setPending] = useState<Pending>()
  const isAllowed = can('admin:write') && isManager
  const columns = useMemo(() => columnsFor(isAllowed ? setPending : undefined), [isAllowed])
  return (
    <div className="stack">
      <div className={styles.bar}>
        <span className="soft small">
          {data && (data.total === 1 ? '1 member' : `${formatNumber(data.total)} members`)}
        </span>
        {isAllowed && (
          <Button kind="primary" icon="plus" onPress={() => setInviting(true)}>
            Invite
          </Button>
        )}
      </div>
      <DataTable
        label="Members"
        columns={columns}
        rows={data?.members}
        rowId={({ user_id }) => user_id}
        paging={pagePaging(
          page,
          data?.has_next,
          (next) => void navigate({ search: { tab: 'members', page: next } }),
        )}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        expectedRows={4}
        empty={<EmptyState icon="people" title="No members" />}
      />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {pending && <MemberDialog pending={pending} onClose={() => setPending(undefined)} />}
    </div>
  )
}
