import { buttonClass } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { organizationLog } from '../../proof/log-verifier.ts'
import { useSession } from '../../session/session.ts'
import styles from './history.module.css'

/** The whole history as a file, and how to verify it without this page. */
export const ExportTab = () => {
  const { organizationId } = useSession()
  const { at } = organizationLog(organizationId)
  const { origin } = window.location
  return (
    <div className="stack">
      <section className="card">
        <div className={styles.exports}>
          <div className={styles.lines}>
            <h2>Download</h2>
            <p className="soft">
              One event a line, as it is stored and signed. Encrypted texts stay encrypted. The
              browser shows the progress.
            </p>
          </div>
          <div className="row">
            <a className={buttonClass('primary')} href={`${at}/export`} download="events.ndjson">
              Events
            </a>
            <a className={buttonClass('default')} href={`${at}/checkpoint`} download="checkpoint">
              Checkpoint
            </a>
            <a className={buttonClass('default')} href={`${at}/key`} download="key">
              Verifier key
            </a>
          </div>
        </div>
      </section>
      <section className="card">
        <div className="stack">
          <div className={styles.lines}>
            <h2>Verify an export</h2>
            <p className="soft">
              The command writes the events together with the hashes that sign them, so the file can
              be verified alone. An interrupted export continues. Keep checkpoint and key where the
              server’s operators cannot change them.
            </p>
          </div>
          <CodeBlock
            title="Export, with a key with admin:read in REPRISE_API_KEY"
            code={`reprise audit export --organization ${organizationId} --out history.ndjson --url ${origin}`}
          />
          <CodeBlock
            title="Verify"
            code={`reprise audit verify history.ndjson --checkpoint checkpoint --vkey "$(cat key)" --url ${origin}`}
          />
        </div>
      </section>
    </div>
  )
}
