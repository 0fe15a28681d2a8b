import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatBytes } from '../../format/numbers.ts'
import styles from './knowledge.module.css'
import { passagesQuery, uploadQuery } from './knowledge-queries.ts'

type UploadDialogProps = { uploadId: string; onClose: () => void }

/** What a search finds of a document: its passages, in its order. */
const Passages = ({ uploadId }: { uploadId: string }) => {
  const query = useInfiniteQuery(passagesQuery(uploadId))
  return (
    <section className="stack" aria-label="Passages">
      <h3>Passages</h3>
      <QueryView query={query} skeleton={<Skeleton lines={3} height="6rem" />}>
        {({ pages }) =>
          pages[0]?.passages.length === 0 ? (
            <EmptyState icon="search" title="The document has no passages" />
          ) : (
            <ol className={styles.passages}>
              {pages.flatMap(({ passages }) =>
                passages.map(({ chunk, text, place }) => (
                  <li key={chunk} className={`card ${styles.passage}`}>
                    <header className="soft" dir="auto">
                      {place}
                    </header>
                    <p dir="auto">{text}</p>
                  </li>
                )),
              )}
            </ol>
          )
        }
      </QueryView>
      {query.hasNextPage && (
        <Button
          kind="quiet"
          isDisabled={query.isFetchingNextPage}
          onPress={() => void query.fetchNextPage()}
        >
          Show more passages
        </Button>
      )}
    </section>
  )
}

/** One document: its status, why it failed, its parts that cannot be read, and its passages. */
export const UploadDialog = ({ uploadId, onClose }: UploadDialogProps) => {
  const query = useQuery(uploadQuery(uploadId))
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={query.data?.filename ?? 'Document'}
      wide
      actions={<Button onPress={onClose}>Close</Button>}
    >
      <QueryView query={query} skeleton={<Skeleton lines={5} height="1.25rem" />}>
        {({ status, error_message, warnings, file_type, file_size, uploaded_at, indexed_at }) => (
          <dl className={styles.facts}>
            <dt>Status</dt>
            <dd>
              <Status status={status} />
            </dd>
            {error_message && (
              <>
                <dt>Error</dt>
                <dd className="bad">{error_message}</dd>
              </>
            )}
            {warnings && warnings.length > 0 && (
              <>
                <dt>Warnings</dt>
                <dd>
                  <ul>
                    {warnings.map((warning) => (
                      <li key={warning}>{warning}</li>
                    ))}
                  </ul>
                </dd>
              </>
            )}
            <dt>Type</dt>
            <dd>{file_type}</dd>
            <dt>Size</dt>
            <dd>{formatBytes(file_size)}</dd>
            <dt>Uploaded</dt>
            <dd>
              <Time at={uploaded_at} />
            </dd>
            <dt>Indexed</dt>
            <dd>
              <Time at={indexed_at} />
            </dd>
          </dl>
        )}
      </QueryView>
      {query.data?.ready && <Passages uploadId={uploadId} />}
    </Dialog>
  )
}
