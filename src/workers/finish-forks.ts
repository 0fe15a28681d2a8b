import type { ForkView } from '../../projections/forks.ts'
import { findAll } from '../../queries/find-all.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import type { ForkSessions } from '../turns/fork/fork-sessions.ts'
import { nodeLease } from './node-lease.ts'
import { skipUnreadable } from './skip-unreadable.ts'

type Uses = {
  forks: View<ForkView>
  forkSessions: Pick<ForkSessions, 'finish' | 'isUnderWay'>
  leases: Leases
  node: string
  log: Log
}

/**
 * Finishes forks whose process has died in the middle, or could not store them, so that no text
 * stays in a session that is not listed and cannot be erased.
 */
export const finishForks = ({ forks, forkSessions, leases, node, log }: Uses) => {
  const isLeft = async ({ fork_id, node: owner }: ForkView, certain: boolean): Promise<boolean> =>
    owner === node
      ? !forkSessions.isUnderWay(fork_id)
      : certain || (await leases.holder(nodeLease(owner))) === undefined

  /** `certain`: no other process is running. */
  return async ({ certain }: { certain: boolean }): Promise<void> => {
    for (const fork of await findAll(forks, { index: 'by_begin', equals: [] })) {
      if (!(await isLeft(fork, certain))) continue
      const { fork_id } = fork
      await skipUnreadable(log, { fork_id }, async () => {
        await forkSessions.finish(fork)
        log.warn({ fork_id }, 'a fork was finished')
      })
    }
  }
}
