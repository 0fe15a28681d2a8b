import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { ApiError, messageOf } from '../../api/problem.ts'
import { Count } from '../../components/amounts.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ConfirmDialog, Dialog } from '../../components/dialog.tsx'
import { Checkbox, TextField } from '../../components/fields.tsx'
import { Menu } from '../../components/menu.tsx'
import { notify } from '../../components/messages.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { pagePaging } from './page-paging.ts'
import styles from './people.module.css'
import { type ApiKey, keysKey, keysQuery } from './people-queries.ts'
import { defaultScopes, type Scope, scopeGroups } from './scopes.ts'

const route = getRouteApi('/people')

type ScopesProps = { chosen: ReadonlySet<Scope>; onChange: (chosen: ReadonlySet<Scope>) => void }

const ScopeChoice = ({ chosen, onChange }: ScopesProps) => (
  <fieldset className={styles.scopes}>
    <legend>Scopes</legend>
    {scopeGroups.map(({ label, scopes }) => (
      <fieldset key={label} className={styles.scopeGroup}>
        <legend>{label}</legend>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            isSelected={chosen.has(scope)}
            onChange={(isSelected) => {
              const next = new Set(chosen)
              if (isSelected) next.add(scope)
              else next.delete(scope)
              onChange(next)
            }}
          >
            <code>{scope}</code>
          </Checkbox>
        ))}
      </fieldset>
    ))}
  </fieldset>
)

type CreateProps = { onClose: () => void; onCreated: (key: string) => void }

const CreateDialog = ({ onClose, onCreated }: CreateProps) => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [lastDay, setLastDay] = useState('')
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(defaultScopes))
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const fields = error instanceof ApiError ? error.fields : {}
  const create = async () => {
    setPending(true)
    setError(undefined)
    try {
      const { key } = await answerOf(
        api.POST('/api/admin/organizations/{organization_id}/api-keys', {
          params: { path: { organization_id: organizationId } },
          body: {
            name: name.trim(),
            description: description.trim(),
            expires_at: lastDay ? `${lastDay}T23:59:59Z` : null,
            scopes: [...scopes],
          },
        }),
      )
      await client.invalidateQueries({ queryKey: keysKey(organizationId) })
      onCreated(key)
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  return (
    <Dialog isOpen onOpenChange={onClose} title="Create an API key" wide>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <TextField label="Name" value={name} onChange={setName} autoFocus error={fields.name} />
        <TextField
          label="Description"
          description="Optional"
          value={description}
          onChange={setDescription}
          error={fields.description}
        />
        <TextField
          label="Last day"
          description="Optional; the key is valid until the end of this day (UTC)"
          type="date"
          value={lastDay}
          onChange={setLastDay}
          error={fields.expires_at}
        />
        <ScopeChoice chosen={scopes} onChange={setScopes} />
        {error !== undefined && (
          <p role="alert" className="bad">
            {messageOf(error)}
          </p>
        )}
        <div className={styles.formActions}>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind="primary"
            isDisabled={isPending || name.trim() === '' || scopes.size === 0}
          >
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const CreatedDialog = ({ apiKey, onClose }: { apiKey: string; onClose: () => void }) => (
  <Dialog
    isOpen
    onOpenChange={onClose}
    title="The key is created"
    isAlert
    actions={
      <Button kind="primary" onPress={onClose}>
        Done
      </Button>
    }
  >
    <p>Copy it now: it is shown only once.</p>
    <CodeBlock title="API key" code={apiKey} wrap />
  </Dialog>
)

const RevokeDialog = ({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  const revoke = async () => {
    await api.DELETE('/api/admin/organizations/{organization_id}/api-keys/{key_id}', {
      params: { path: { organization_id: organizationId, key_id: apiKey.key_id } },
    })
    await client.invalidateQueries({ queryKey: keysKey(organizationId) })
    notify(`${apiKey.name} is revoked`)
  }
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title={`Revoke ${apiKey.name}?`}
      action="Revoke"
      onConfirm={revoke}
    >
      Requests with this key are refused at once. This cannot be undone.
    </ConfirmDialog>
  )
}

const scopesOf = (scopes: readonly string[]): string => {
  const [first = 'None', ...others] = scopes
  return others.length > 0 ? `${first} and ${others.length} more` : first
}

const columnsFor = (revoke: ((key: ApiKey) => void) | undefined): Column<ApiKey>[] => [
  {
    id: 'name',
    header: 'Name',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <span dir="auto" title={original.description || original.name}>
        {original.name}
      </span>
    ),
  },
  {
    id: 'hint',
    header: 'Key',
    cell: ({ row: { original } }) => <code>{original.key_hint}</code>,
  },
  {
    id: 'type',
    header: 'Type',
    meta: { priority: 'low' },
    cell: ({ row: { original } }) => (original.type === 'user' ? 'User' : 'Organization'),
  },
  {
    id: 'scopes',
    header: 'Scopes',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => (
      <span title={original.scopes.join(', ')}>{scopesOf(original.scopes)}</span>
    ),
  },
  {
    id: 'last_used_at',
    header: 'Last used',
    cell: ({ row: { original } }) =>
      original.last_used_at ? (
        <Time at={original.last_used_at} />
      ) : (
        <span className="soft">Never</span>
      ),
  },
  {
    id: 'request_count',
    header: 'Requests',
    meta: { align: 'end', priority: 'low' },
    cell: ({ row: { original } }) => <Count of={original.request_count} />,
  },
  {
    id: 'expires_at',
    header: 'Expires',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) =>
      original.expires_at ? <Time at={original.expires_at} /> : <span className="soft">Never</span>,
  },
  ...(revoke
    ? [
        {
          id: 'actions',
          header: () => <span className="visually-hidden">Actions</span>,
          meta: { align: 'end' },
          cell: ({ row: { original } }) => (
            <Menu
              label={`Actions for ${original.name}`}
              trigger={<IconButton icon="more" label={`Actions for ${original.name}`} />}
              actions={[
                {
                  id: 'revoke',
                  label: 'Revoke',
                  isDangerous: true,
                  onAction: () => revoke(original),
                },
              ]}
            />
          ),
        } satisfies Column<ApiKey>,
      ]
    : []),
]

/** The API keys of the organization. */
export const KeysTab = () => {
  const { organizationId, can, isManager } = useSession()
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(keysQuery(organizationId, page))
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<string>()
  const [revoked, setRevoked] = useState<ApiKey>()
  const isAllowed = can('admin:write') && isManager
  const columns = useMemo(() => columnsFor(isAllowed ? setRevoked : undefined), [isAllowed])
  return (
    <div className="stack">
      <div className={styles.bar}>
        <span className="soft small">
          {data && (data.total === 1 ? '1 key' : `${formatNumber(data.total)} keys`)}
        </span>
        {isAllowed && (
          <Button kind="primary" icon="plus" onPress={() => setCreating(true)}>
            Create key
          </Button>
        )}
      </div>
      <DataTable
        label="API keys"
        columns={columns}
        rows={data?.api_keys}
        rowId={({ key_id }) => key_id}
        paging={pagePaging(
          page,
          data?.has_next,
          (next) => void navigate({ search: { tab: 'keys', page: next } }),
        )}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        expectedRows={4}
        empty={
          <EmptyState icon="lock" title="No API keys">
            A key lets a program use the API with the scopes that you give it.
          </EmptyState>
        }
      />
      {isCreating && (
        <CreateDialog
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false)
            setCreated(key)
          }}
        />
      )}
      {created !== undefined && (
        <CreatedDialog apiKey={created} onClose={() => setCreated(undefined)} />
      )}
      {revoked && <RevokeDialog apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </div>
  )
}
