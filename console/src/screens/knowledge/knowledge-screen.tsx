import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { datastoresQuery } from '../../api/datastores.ts'
import { messageOf } from '../../api/problem.ts'
import { Count } from '../../components/amounts.tsx'
import { Button } from '../../components/button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ForbiddenState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import type { Datastore } from './knowledge-queries.ts'

const columns: Column<Datastore>[] = [
  {
    id: 'name',
    header: 'DataStore',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <Link to="/knowledge/$datastoreId" params={{ datastoreId: original.datastore_id }} dir="auto">
        {original.display_name}
      </Link>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => (
      <span className="soft" dir="auto">
        {original.description?.slice(0, 120) ?? '–'}
      </span>
    ),
  },
  {
    id: 'documents',
    header: 'Documents',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={original.document_count} />,
  },
  {
    id: 'created',
    header: 'Created',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Time at={original.created_at} />,
  },
]

type NewDatastoreProps = { isOpen: boolean; onOpenChange: (isOpen: boolean) => void }

const NewDatastore = ({ isOpen, onOpenChange }: NewDatastoreProps) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const create = async (event: FormEvent) => {
    event.preventDefault()
    setPending(true)
    try {
      const { datastore_id } = await answerOf(
        api.POST('/api/external/rag/datastores', {
          body: { display_name: name, ...(description && { description }) },
        }),
      )
      void client.invalidateQueries({ queryKey: datastoresQuery.queryKey })
      await navigate({ to: '/knowledge/$datastoreId', params: { datastoreId: datastore_id } })
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  return (
    <Dialog isOpen={isOpen} onOpenChange={onOpenChange} title="New DataStore">
      <form className="stack" onSubmit={(event) => void create(event)}>
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          maxLength={200}
          autoFocus
          error={error === undefined ? undefined : messageOf(error)}
        />
        <TextField
          label="Description"
          description="Optional"
          value={description}
          onChange={setDescription}
          maxLength={2_000}
        />
        <div className="row">
          <Button kind="primary" type="submit" isDisabled={isPending || name.trim() === ''}>
            Create
          </Button>
          <Button onPress={() => onOpenChange(false)}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The DataStores whose documents agents search. */
export const KnowledgeScreen = () => {
  const { can } = useSession()
  const isAllowed = can('rag:read')
  const [isCreating, setCreating] = useState(false)
  const { data, error, refetch } = useQuery({ ...datastoresQuery, enabled: isAllowed })
  const create = can('rag:upload') && (
    <Button kind="primary" icon="plus" onPress={() => setCreating(true)}>
      New DataStore
    </Button>
  )
  return (
    <Page
      title="Knowledge"
      description="Documents in DataStores, which agents search for their answers."
      actions={data && data.datastores.length > 0 && create}
    >
      {isAllowed ? (
        <DataTable
          label="DataStores"
          columns={columns}
          rows={data?.datastores}
          rowId={({ datastore_id }) => datastore_id}
          linked
          error={data ? undefined : error}
          onRetry={() => void refetch()}
          expectedRows={3}
          empty={
            <EmptyState icon="knowledge" title="No DataStores yet" action={create}>
              A DataStore holds documents. Agents that name it search them.
            </EmptyState>
          }
        />
      ) : (
        <ForbiddenState scope="rag:read" what="documents" />
      )}
      {isCreating && <NewDatastore isOpen onOpenChange={setCreating} />}
    </Page>
  )
}
