import { asCode, type Language, languages, type StreamCall } from '../../api/as-code.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Tabs } from '../../components/tabs.tsx'

const labels: Readonly<Record<Language, string>> = {
  curl: 'curl',
  python: 'Python',
  typescript: 'TypeScript',
}

type CodeDialogProps = {
  language: Language | undefined
  call: StreamCall
  onLanguage: (language: Language | undefined) => void
}

/** The request that was made last, as code. */
export const CodeDialog = ({ language, call, onLanguage }: CodeDialogProps) => (
  <Dialog
    isOpen={language !== undefined}
    onOpenChange={(isOpen) => {
      if (!isOpen) onLanguage(undefined)
    }}
    title="The same as code"
    wide
  >
    <p className="soft">
      Put an API key into <code>REPRISE_API_KEY</code>.
    </p>
    <Tabs
      label="Language"
      selected={language ?? 'curl'}
      onSelect={onLanguage}
      tabs={languages.map((id) => ({
        id,
        label: labels[id],
        content: <CodeBlock title={labels[id]} code={asCode(id, call, window.location.origin)} />,
      }))}
    />
  </Dialog>
)
