import { IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './code-block.module.css'
import { notify } from './messages.tsx'
import { ScrollRegion } from './scroll-region.tsx'

const copy = async (text: string, what: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    notify(`${what} copied`)
  } catch {
    notify('The browser does not allow copying', 'bad')
  }
}

/** A button that copies a text. */
export const CopyButton = ({ text, what = 'Text' }: { text: string; what?: string }) => (
  <IconButton
    icon="copy"
    label={`Copy ${what.toLowerCase()}`}
    onPress={() => void copy(text, what)}
  />
)

type CodeBlockProps = {
  /** What it is, above the code: `curl`, `Arguments`. */
  title: string
  code: string
  /** Long lines break instead of scrolling. */
  wrap?: boolean
}

/** Code or JSON with a button that copies it. */
export const CodeBlock = ({ title, code, wrap = false }: CodeBlockProps) => (
  <figure className={styles.block}>
    <figcaption className={styles.title}>
      {title}
      <CopyButton text={code} what={title} />
    </figcaption>
    <ScrollRegion className={classNames(styles.code, wrap && styles.wrap)} label={title}>
      <pre>
        <code>{code}</code>
      </pre>
    </ScrollRegion>
  </figure>
)

/** A value as indented JSON. */
export const JsonBlock = ({ title, value }: { title: string; value: unknown }) => (
  <CodeBlock title={title} code={JSON.stringify(value, null, 2) ?? 'undefined'} wrap />
)
