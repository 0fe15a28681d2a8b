import { useQuery } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatBytes } from '../../format/numbers.ts'
import styles from './knowledge.module.css'
import { uploadQuery } from './knowledge-queries.ts'

type UploadDialogProps = { uploadId: string; onClose: () => void }

/** One document: its status, why it failed, and its parts that cannot be read. */
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
    </Dialog>
  )
}
