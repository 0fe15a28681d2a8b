import type { Sealed } from '../../domain/sealed.ts'
import type { Keyed } from '../../security/vault.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { ToolAnswer } from '../turn.ts'

/** Characters beyond which sealing takes an iteration of the event loop of its own. */
const large = 262_144

const pattern = /^call_([A-Za-z0-9_-]{22})_\d{1,5}$/

/** Ids of a run's calls: at most 33 characters, with the run in them. */
export const callIds = (runId: string): (() => string) => {
  const run = Buffer.from(runId.replaceAll('-', ''), 'hex').toString('base64url')
  let calls = 0
  return () => `call_${run}_${calls++}`
}

/** The run that made a call; undefined for an id that was not made here. */
export const runOfCall = (callId: string): string | undefined => {
  const run = pattern.exec(callId)?.[1]
  return run === undefined
    ? undefined
    : Buffer.from(run, 'base64url')
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The client's results, sealed one by one; the first has the id of the request's message. */
export const sealedResults = async (
  key: Keyed,
  results: readonly ToolAnswer[],
  idOf: (n: number) => string,
) => {
  const sealed: { messageId: string; toolId: string; content: Sealed }[] = []
  for (const [n, { toolId, content }] of results.entries()) {
    if (content.length > large) await yieldToEventLoop()
    sealed.push({ messageId: idOf(n), toolId, content: key.seal(content) })
  }
  return sealed
}
