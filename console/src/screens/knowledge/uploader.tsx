import { DropZone, FileTrigger, ProgressBar } from 'react-aria-components'
import { Button, IconButton } from '../../components/button.tsx'
import { formatBytes } from '../../format/numbers.ts'
import styles from './knowledge.module.css'
import { type Transfer, useUploader } from './use-uploader.ts'

/** Those that the server reads (docs/contract/knowledge.md#uploading). */
const extensions = [
  '.pdf',
  '.docx',
  '.pptx',
  '.txt',
  '.html',
  '.htm',
  '.json',
  '.jsonl',
  '.ndjson',
  '.md',
  '.markdown',
]

type TransferItemProps = { transfer: Transfer; onRemove: () => void }

const TransferItem = ({ transfer, onRemove }: TransferItemProps) => {
  const { name, size, progress, error } = transfer
  return (
    <li className={styles.transfer}>
      <div className={styles.words}>
        <span dir="auto">{name}</span>
        {error !== undefined && (
          <span role="alert" className="bad">
            {error}
          </span>
        )}
      </div>
      {error === undefined ? (
        <span className="soft number">
          {progress < 1 ? `${Math.floor(progress * 100)} % of ${formatBytes(size)}` : 'Storing'}
        </span>
      ) : (
        <IconButton icon="close" label={`Dismiss ${name}`} onPress={onRemove} />
      )}
      {error === undefined && (
        <ProgressBar
          aria-label={`Upload of ${name}`}
          value={progress * 100}
          className={styles.track ?? ''}
        >
          <div className={styles.bar} style={{ width: `${progress * 100}%` }} />
        </ProgressBar>
      )}
    </li>
  )
}

/** Takes documents by drag and drop or from a dialog, and shows how far each one is. */
export const Uploader = ({ datastoreId }: { datastoreId: string }) => {
  const { transfers, add, remove } = useUploader(datastoreId)
  return (
    <>
      <DropZone
        aria-label="Drop documents here"
        className={styles.drop ?? ''}
        onDrop={async ({ items }) => {
          const files = await Promise.all(
            items.flatMap((item) => (item.kind === 'file' ? [item.getFile()] : [])),
          )
          add(files)
        }}
      >
        <FileTrigger
          allowsMultiple
          acceptedFileTypes={extensions}
          onSelect={(files) => add([...(files ?? [])])}
        >
          <Button kind="primary" icon="plus">
            Add documents
          </Button>
        </FileTrigger>
        <span>or drop them here: PDF, Word, PowerPoint, Markdown, HTML, JSON or text</span>
      </DropZone>
      {transfers.length > 0 && (
        <ul className={styles.transfers} aria-label="Uploads under way">
          {transfers.map((transfer) => (
            <TransferItem
              key={transfer.id}
              transfer={transfer}
              onRemove={() => remove(transfer.id)}
            />
          ))}
        </ul>
      )}
    </>
  )
}
