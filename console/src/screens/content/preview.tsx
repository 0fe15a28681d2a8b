import { filePath } from '../../api/content-file.ts'
import { Icon } from '../../components/icon.tsx'
import styles from './content.module.css'
import { type Content, isUnderWay } from './content-queries.ts'

export const typeLabels = {
  image: 'Image',
  video: 'Video',
  audio: 'Sound',
  glb: '3D model',
  other: 'Other',
} as const

export const labelOf = ({ content_type }: Pick<Content, 'content_type'>): string =>
  content_type ? typeLabels[content_type] : 'Content'

const Placeholder = ({ words }: { words: string }) => (
  <div className={styles.placeholder}>
    <Icon name="content" size={24} />
    <span>{words}</span>
  </div>
)

/** A picture, a player, or words in their place. */
export const Preview = ({ item }: { item: Content }) => {
  const path = filePath(item)
  const { content_type, prompt, status } = item
  if (!path)
    return (
      <Placeholder
        words={isUnderWay(item) ? 'Not ready yet' : status === 'failed' ? 'No file' : ''}
      />
    )
  if (content_type === 'image')
    return <img src={path} alt={prompt} loading="lazy" className={styles.image} />
  if (content_type === 'audio')
    return (
      <div className={styles.placeholder}>
        <Icon name="content" size={24} />
        {/* biome-ignore lint/a11y/useMediaCaption: generated sounds have no captions */}
        <audio controls preload="none" src={path} aria-label={prompt} className={styles.player} />
      </div>
    )
  if (content_type === 'video')
    return (
      // biome-ignore lint/a11y/useMediaCaption: generated videos have no captions
      <video controls preload="metadata" src={path} aria-label={prompt} className={styles.image} />
    )
  return <Placeholder words={labelOf(item)} />
}
