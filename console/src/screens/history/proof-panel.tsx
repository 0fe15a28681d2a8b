import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Status, type Tone } from '../../components/status.tsx'
import { evidenceFile, type ProofBadge, type ProofDetail } from '../../proof/proof-badge.ts'
import { useSession } from '../../session/session.ts'
import styles from './history.module.css'
import { saveFile } from './save-file.ts'
import { useLogProof } from './use-proof.ts'

const tones: Readonly<Record<ProofBadge['state'], Tone>> = {
  idle: 'neutral',
  verifying: 'active',
  verified: 'good',
  failed: 'bad',
  unavailable: 'warn',
  unsupported: 'warn',
}

const headings = {
  proves: 'What this shows',
  limit: 'What this does not show',
  advice: 'What you can do',
} as const satisfies Record<ProofDetail['kind'], string>

/** The state of a verification as a word with a mark. */
export const ProofStatus = ({ badge }: { badge: ProofBadge }) => (
  <Status status={badge.state} tone={tones[badge.state]} label={badge.label} />
)

/** What a verification shows, what it does not, and what to do about it. */
export const ProofDetails = ({ badge }: { badge: ProofBadge }) => (
  <div className={styles.details}>
    {(['proves', 'limit', 'advice'] as const).map((kind) => {
      const lines = badge.details.filter((detail) => detail.kind === kind)
      return (
        lines.length > 0 && (
          <section key={kind} className={styles.lines}>
            <h3>{headings[kind]}</h3>
            <ul>
              {lines.map(({ text }) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </section>
        )
      )
    })}
  </div>
)

const KeyForm = ({ onVerify }: { onVerify: (key: string) => void }) => {
  const [key, setKey] = useState('')
  return (
    <form
      className={styles.key}
      onSubmit={(event) => {
        event.preventDefault()
        if (key.trim() !== '') onVerify(key.trim())
      }}
    >
      <TextField
        label="Verifier key"
        description="A key that you got from somebody you trust, not from this server"
        value={key}
        onChange={setKey}
        mono
      />
      <Button type="submit" isDisabled={key.trim() === ''}>
        Verify with this key
      </Button>
    </form>
  )
}

/** The proof badge: this browser verifies that the history was not changed. */
export const ProofPanel = () => {
  const { organizationId } = useSession()
  const { badge, verify, forget } = useLogProof(organizationId)
  const [isForgetting, setForgetting] = useState(false)
  const { evidence } = badge
  return (
    <section className={styles.proof} aria-label="Proof" data-state={badge.state}>
      <h2 className="visually-hidden">Proof</h2>
      <div className={styles.proofHead}>
        <div className={styles.proofWords} role="status">
          <ProofStatus badge={badge} />
          <p>{badge.text}</p>
        </div>
        <div className="row">
          {evidence && (
            <Button onPress={() => saveFile('evidence.txt', evidenceFile(evidence))}>
              Save evidence
            </Button>
          )}
          <Button
            icon="refresh"
            isDisabled={badge.state === 'verifying'}
            onPress={() => void verify()}
          >
            Verify
          </Button>
        </div>
      </div>
      <details className={styles.more}>
        <summary>What is verified</summary>
        <div className="stack">
          <ProofDetails badge={badge} />
          <KeyForm onVerify={(key) => void verify(key)} />
          <div>
            <Button kind="quiet" onPress={() => setForgetting(true)}>
              Forget the checkpoint
            </Button>
          </div>
        </div>
      </details>
      <ConfirmDialog
        isOpen={isForgetting}
        onOpenChange={setForgetting}
        title="Forget the checkpoint?"
        action="Forget"
        onConfirm={async () => forget()}
      >
        This browser forgets the last checkpoint and its key. The next verification cannot tell
        whether the history was changed before it.
      </ConfirmDialog>
    </section>
  )
}
