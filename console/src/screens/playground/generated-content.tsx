import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { filePath } from '../../api/content-file.ts'
import { Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { contentQuery } from './conversation-queries.ts'
import styles from './playground.module.css'

const idPattern = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g
const most = 6

/** The ids in a text that may be those of generated content. */
export const contentIdsOf = (text: string): string[] =>
  [...new Set(text.slice(0, 64_000).match(idPattern) ?? [])].slice(0, most)

const Item = ({ id }: { id: string }) => {
  const { data: item, isPending } = useQuery(contentQuery(id))
  if (isPending) return <Skeleton width="12rem" height="2rem" />
  if (!item) return null
  const { status, content_type: type, prompt, error_message: fault } = item
  const url = filePath(item)
  return (
    <figure className={styles.content}>
      {url && type === 'image' && <img src={url} alt={prompt} className={styles.picture} />}
      {url && type === 'audio' && (
        // biome-ignore lint/a11y/useMediaCaption: generated sounds have no captions
        <audio controls src={url} aria-label={prompt} />
      )}
      {url && type === 'video' && (
        // biome-ignore lint/a11y/useMediaCaption: generated videos have no captions
        <video controls src={url} aria-label={prompt} className={styles.picture} />
      )}
      <figcaption className="row small">
        <Status status={status} />
        {url && type !== 'image' && type !== 'audio' && type !== 'video' && (
          <a href={url} download>
            Download the {type === 'glb' ? '3D model' : 'file'}
          </a>
        )}
        {fault && <span className="bad">{fault}</span>}
        <Link to="/content" className="soft">
          Open content
        </Link>
      </figcaption>
    </figure>
  )
}

/** Pictures, sounds and models that an answer names. */
export const GeneratedContent = ({ text }: { text: string }) => {
  const ids = contentIdsOf(text)
  if (ids.length === 0) return null
  return (
    <div className={styles.contents}>
      {ids.map((id) => (
        <Item key={id} id={id} />
      ))}
    </div>
  )
}
