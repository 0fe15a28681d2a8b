import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { datastoresQuery } from '../../api/datastores.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Checkbox, Select } from '../../components/fields.tsx'
import { Menu } from '../../components/menu.tsx'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import { numberedPages } from '../../components/page-numbers.ts'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Time } from '../../components/time.tsx'
import { formatBytes } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import styles from './knowledge.module.css'
import { type Datastore, type Upload, uploadsQuery } from './knowledge-queries.ts'
import { SearchTab } from './search-tab.tsx'
import { UploadDialog } from './upload-dialog.tsx'
import { Uploader } from './uploader.tsx'

const route = getRouteApi('/knowledge/$datastoreId')

const statuses = [
  { id: 'all', label: 'All statuses' },
  { id: 'processing', label: 'Processing' },
  { id: 'pending', label: 'Pending' },
  { id: 'indexing', label: 'Indexing' },
  { id: 'completed', label: 'Completed' },
  { id: 'failed', label: 'Failed' },
] as const

const Document = ({ upload }: { upload: Upload }) => (
  <Link
    from="/knowledge/$datastoreId"
    to="."
    search={(former) => ({ ...former, upload: upload.upload_id })}
    dir="auto"
  >
    {upload.filename}
  </Link>
)

const UploadState = ({ upload: { status, warnings = [] } }: { upload: Upload }) => (
  <span className="row">
    <Status status={status} tone={status === 'indexing' ? 'active' : undefined} />
    {warnings.length > 0 && (
      <Status
        status="warnings"
        tone="warn"
        label={warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}
      />
    )}
  </span>
)

type RowMenuProps = { upload: Upload; onDelete: () => void }

const RowMenu = ({ upload, onDelete }: RowMenuProps) => (
  <Menu
    label={`Actions of ${upload.filename}`}
    trigger={<IconButton icon="more" label={`Actions of ${upload.filename}`} />}
    actions={[{ id: 'delete', label: 'Delete', isDangerous: true, onAction: onDelete }]}
  />
)

const columnsWith = (onDelete: ((upload: Upload) => void) | undefined): Column<Upload>[] => [
  {
    id: 'filename',
    header: 'Document',
    meta: { main: true },
    cell: ({ row: { original } }) => <Document upload={original} />,
  },
  {
    id: 'status',
    header: 'Status',
    cell: ({ row: { original } }) => <UploadState upload={original} />,
  },
  {
    id: 'size',
    header: 'Size',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => (
      <span className="number">{formatBytes(original.file_size)}</span>
    ),
  },
  {
    id: 'uploaded',
    header: 'Uploaded',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => <Time at={original.uploaded_at} />,
  },
  ...(onDelete
    ? [
        {
          id: 'actions',
          header: () => <span className="visually-hidden">Actions</span>,
          meta: { align: 'end' as const },
          cell: ({ row: { original } }: { row: { original: Upload } }) => (
            <RowMenu upload={original} onDelete={() => onDelete(original)} />
          ),
        },
      ]
    : []),
]

const Documents = ({ datastoreId }: { datastoreId: string }) => {
  const { status, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const { can } = useSession()
  const [deleting, setDeleting] = useState<Upload>()
  const { data, error, refetch } = useQuery(uploadsQuery({ datastoreId, status, page }))
  const remove = async () => {
    if (!deleting) return
    const { filename } = deleting
    await answerOf(
      api.DELETE('/api/external/rag/datastores/{datastore_id}/files/{filename}', {
        params: { path: { datastore_id: datastoreId, filename } },
      }),
    )
    notify(`${filename} deleted`)
    void client.invalidateQueries({ queryKey: ['uploads', datastoreId] })
    void client.invalidateQueries({ queryKey: ['datastores'] })
  }
  return (
    <div className="stack">
      {can('rag:upload') && <Uploader datastoreId={datastoreId} />}
      <div className={styles.filter}>
        <Select
          label="Status"
          hideLabel
          options={statuses}
          value={status ?? 'all'}
          onChange={(id) =>
            void navigate({
              search: (former) => ({
                ...former,
                status: id === 'all' ? undefined : id,
                page: undefined,
              }),
            })
          }
        />
      </div>
      <DataTable
        label="Documents"
        columns={columnsWith(can('rag:delete') ? setDeleting : undefined)}
        rows={data?.uploads}
        rowId={({ upload_id }) => upload_id}
        linked
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        summary={data && `${data.total} in total`}
        paging={numberedPages({
          page,
          hasNext: data?.hasNext ?? false,
          onPage: (next) => void navigate({ search: (former) => ({ ...former, page: next }) }),
        })}
        empty={
          <EmptyState
            icon="knowledge"
            title={status ? 'No documents with this status' : 'No documents yet'}
          >
            {status ? undefined : 'Agents search the documents of a DataStore for their answers.'}
          </EmptyState>
        }
      />
      <ConfirmDialog
        isOpen={deleting !== undefined}
        onOpenChange={() => setDeleting(undefined)}
        title={`Delete ${deleting?.filename ?? ''}?`}
        action="Delete"
        onConfirm={remove}
      >
        <p>Its passages and its stored file are erased. This cannot be undone.</p>
      </ConfirmDialog>
    </div>
  )
}

type DeleteDatastoreProps = { datastore: Datastore; onOpenChange: (isOpen: boolean) => void }

const DeleteDatastore = ({ datastore, onOpenChange }: DeleteDatastoreProps) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [force, setForce] = useState(false)
  const { datastore_id, display_name } = datastore
  const remove = async () => {
    await answerOf(
      api.DELETE('/api/external/rag/datastores/{datastore_id}', {
        params: { path: { datastore_id }, query: { force } },
      }),
    )
    notify(`${display_name} deleted`)
    await navigate({ to: '/knowledge' })
    void client.invalidateQueries({ queryKey: ['datastores'] })
  }
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onOpenChange}
      title={`Delete ${display_name}?`}
      action="Delete"
      typed={display_name}
      onConfirm={remove}
    >
      <div className="stack">
        <p>All of its documents are erased. This cannot be undone.</p>
        <Checkbox isSelected={force} onChange={setForce}>
          Also while agents use it: it is removed from them
        </Checkbox>
      </div>
    </ConfirmDialog>
  )
}

/** One DataStore: its documents, and a search in them. */
export const DatastoreScreen = () => {
  const { datastoreId } = route.useParams()
  const { tab, q = '', upload } = route.useSearch()
  const navigate = route.useNavigate()
  const { can } = useSession()
  const isAllowed = can('rag:read')
  const [isDeleting, setDeleting] = useState(false)
  const query = useQuery({ ...datastoresQuery, enabled: isAllowed })
  const datastore = query.data?.datastores.find(({ datastore_id }) => datastore_id === datastoreId)
  const back = <Link to="/knowledge">Knowledge</Link>
  if (!isAllowed)
    return (
      <Page title="DataStore" back={back}>
        <ForbiddenState scope="rag:read" what="documents" />
      </Page>
    )
  return (
    <Page
      title={datastore?.display_name ?? 'DataStore'}
      description={datastore?.description}
      back={back}
      actions={
        datastore &&
        can('rag:delete') && (
          <Menu
            label="Actions"
            trigger={<Button icon="more">Actions</Button>}
            actions={[
              {
                id: 'delete',
                label: 'Delete DataStore',
                isDangerous: true,
                onAction: () => setDeleting(true),
              },
            ]}
          />
        )
      }
    >
      <QueryView query={query} skeleton={<Skeleton lines={8} height="1.5rem" />}>
        {() =>
          datastore ? (
            <Tabs
              label={datastore.display_name}
              selected={tab ?? 'documents'}
              onSelect={(id) =>
                void navigate({
                  search: id === 'search' ? { tab: id } : {},
                  replace: true,
                })
              }
              tabs={[
                {
                  id: 'documents',
                  label: 'Documents',
                  content: <Documents datastoreId={datastoreId} />,
                },
                {
                  id: 'search',
                  label: 'Search',
                  content: (
                    <SearchTab
                      datastoreId={datastoreId}
                      query={q}
                      onQuery={(text) => void navigate({ search: { tab: 'search', q: text } })}
                    />
                  ),
                },
              ]}
            />
          ) : (
            <EmptyState icon="search" title="There is no such DataStore" action={back} />
          )
        }
      </QueryView>
      {upload && (
        <UploadDialog
          uploadId={upload}
          onClose={() => void navigate({ search: (former) => ({ ...former, upload: undefined }) })}
        />
      )}
      {isDeleting && datastore && (
        <DeleteDatastore datastore={datastore} onOpenChange={setDeleting} />
      )}
    </Page>
  )
}
