import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { ScrollRegion } from '../../components/scroll-region.tsx'
import { formatBytes } from '../../format/numbers.ts'
import styles from './run.module.css'

/** Characters of a long text that are shown at first. */
const firstPart = 8_000

type MessageTextProps = { text: string; isMarkdown: boolean }

/** A message of any length: long ones begin with their first part. */
export const MessageText = ({ text, isMarkdown }: MessageTextProps) => {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > firstPart
  if (!isLong)
    return isMarkdown ? (
      <Markdown text={text} />
    ) : (
      <p className={styles.plain} dir="auto">
        {text}
      </p>
    )
  const size = formatBytes(new Blob([text]).size)
  return (
    <>
      {isWhole ? (
        <ScrollRegion label="Whole message" className={styles.longText}>
          <p className={styles.plain} dir="auto">
            {text}
          </p>
        </ScrollRegion>
      ) : (
        <p className={styles.plain} dir="auto">
          {text.slice(0, firstPart)}…
        </p>
      )}
      <div>
        <Button onPress={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${size}`}
        </Button>
      </div>
    </>
  )
}
