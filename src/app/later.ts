import type { Damage } from '../ports/damage.ts'
import type { Views } from '../ports/views.ts'
import type { Projecting } from '../projector/projector.ts'
import type { AuditReads } from './audit-reads.ts'

/** What folds the read models that are folded later, and reads them: here or in another process. */
export type Later = {
  projecting: Projecting
  reads: AuditReads
  documents: Pick<Views, 'load' | 'checkpoint' | 'version'>
  /** Takes note of a data key that was destroyed. */
  forget(keyName: string): void
  /** What was found damaged there. */
  damage(): readonly Damage[]
}
