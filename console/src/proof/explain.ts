import type { Failure, Part, Unavailable, Unsupported } from './failure.ts'
import type { EventResult, LogResult, VerifiedEvent, VerifiedLog } from './result.ts'

/** What a result means, in sentences for people. */
export type Explanation = {
  summary: string
  /** What is certain now. */
  proves: readonly string[]
  /** What nobody should conclude from it. */
  limits: readonly string[]
  /** What to do next. */
  advice: readonly string[]
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

const events = (count: number) => counted(count, 'event')

/** `2026-11-26 16:30 UTC`, from ISO 8601. */
const time = (at: string): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Counted from 0, as everywhere else in exports and proofs. */
const indexed = (index: number): string => `index ${index.toLocaleString('en-US')}`

/** A text that the server chose, at a length that fits into a sentence. */
const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text)

const partNames: Record<Part, string> = {
  key: 'a verifier key',
  checkpoint: 'a checkpoint',
  'consistency proof': 'a consistency proof',
  tile: 'a tile of hashes',
  event: 'an event',
}

const independentCheck =
  'For a check that does not depend on this page, run `reprise audit verify` with a key and a ' +
  'checkpoint that you stored yourself.'

const earlierLimit = ({ earlier }: VerifiedLog): readonly string[] => {
  if (earlier.kind === 'compared') return []
  const why = {
    first_visit: 'This is the first verification in this browser',
    unreadable: 'The checkpoint that this browser stored cannot be read',
    no_storage: 'This browser stores no checkpoints',
  }[earlier.reason]
  return [
    `${why}, so there is nothing to compare with. A history that was rewritten before now looks ` +
      'the same.',
  ]
}

const keyLimit = ({ keySource }: VerifiedLog): readonly string[] => {
  if (keySource === 'given') return []
  const source =
    keySource === 'served'
      ? 'The verifier key came from this server.'
      : 'The verifier key is the one that this server gave this browser on the first visit.'
  return [`${source} Compare it with a copy that you received through a trusted channel.`]
}

const logProofs = ({ size, key, earlier }: VerifiedLog): string[] => {
  const signed = `The holder of the key ${key} signed a history of ${events(size)}.`
  if (earlier.kind === 'none') return [signed]
  const added = size - earlier.size
  return [
    signed,
    `Its first ${events(earlier.size)} are those that this browser verified on ` +
      `${time(earlier.at)}: none was changed, removed, inserted or reordered since. ` +
      `${added === 0 ? 'No event was' : `${events(added)} ${added === 1 ? 'was' : 'were'}`} added.`,
  ]
}

const logLimits = (log: VerifiedLog): string[] => [
  ...earlierLimit(log),
  ...keyLimit(log),
  ...(log.isRemembered
    ? []
    : ['This browser did not store the checkpoint. The next visit cannot compare with it.']),
  'No independent witness confirmed this history. The server could show other people another one.',
  'It does not show that this page lists all events: filters and lists are not part of the proof.',
  'It does not show that what the events say is true, only that it was recorded this way.',
  'The code of this page came from the same server.',
]

const logSummary = ({ size, earlier }: VerifiedLog): string =>
  earlier.kind === 'none'
    ? `The signature on a history of ${events(size)} is valid. There is no earlier visit to compare with.`
    : `The history of ${events(size)} is signed, and unchanged since ${time(earlier.at)}.`

const eventLimit = ({ encrypted }: VerifiedEvent): readonly string[] =>
  encrypted.length === 0
    ? []
    : [
        `The history stores ${counted(encrypted.length, 'field')} of this event encrypted ` +
          `(${encrypted.slice(0, 3).join(', ')}${encrypted.length > 3 ? ', …' : ''}). The proof ` +
          'covers the encrypted form; the server decrypted what you see.',
      ]

const verified = (log: VerifiedLog, event?: VerifiedEvent): Explanation => {
  if (!event)
    return {
      summary: logSummary(log),
      proves: logProofs(log),
      limits: logLimits(log),
      advice: [independentCheck],
    }
  const place = indexed(event.index)
  return {
    summary: `The signed history of ${events(log.size)} includes this event, at ${place}.`,
    proves: [
      `The event at ${place} of the signed history has the fields that are shown here.`,
      ...logProofs(log),
    ],
    limits: [...eventLimit(event), ...logLimits(log)],
    advice: [independentCheck],
  }
}

const saveEvidence =
  'Save both checkpoints. Both are signed, so they can show others that the server contradicts itself.'
const report = 'Report this to whoever audits this organization, and do not rely on this page.'

const failed = (summary: string, ...advice: readonly string[]): Explanation => ({
  summary,
  proves: [],
  limits: ['It does not show who caused this, or why.'],
  advice: [...advice, report],
})

type FailureTable = {
  [Reason in Failure['reason']]: (failure: Extract<Failure, { reason: Reason }>) => Explanation
}

const failures: FailureTable = {
  malformed: ({ part, detail }) =>
    failed(`The server served ${partNames[part]} that is malformed: ${detail}.`),
  missing: ({ part }) =>
    failed(`The server does not serve ${partNames[part]} that belongs to its signed history.`),
  wrong_origin: ({ expected, actual }) =>
    failed(
      `The key or the checkpoint is of another history: ${short(actual)} instead of ${expected}.`,
    ),
  key_changed: ({ remembered, given }) =>
    failed(
      `The given key ${short(given)} is not the one that this browser remembers, ${remembered}.`,
      'Forget the remembered checkpoint only if you know why the key changed.',
    ),
  signature_missing: ({ key }) =>
    failed(
      `The checkpoint has no signature by the key ${key}. It was signed with another key, or not at all.`,
    ),
  signature_wrong: ({ key }) =>
    failed(`The signature by the key ${key} does not belong to this checkpoint: one was altered.`),
  history_shorter: ({ size, earlier }) =>
    failed(
      `Events were removed: the history has ${events(size)}, but had ${events(earlier.size)} on ` +
        `${time(earlier.at)}.`,
      'If the server was restored from a backup, its operator can confirm this.',
      saveEvidence,
    ),
  history_rewritten: ({ size, earlier }) =>
    failed(
      size === earlier.size
        ? `The history was rewritten: its ${events(size)} are not those of ${time(earlier.at)}.`
        : `The server cannot prove that its ${events(size)} begin with the ` +
            `${events(earlier.size)} of ${time(earlier.at)}: the history was rewritten, or the ` +
            'proof was altered.',
      saveEvidence,
    ),
  tiles_altered: ({ index }) =>
    failed(
      `The hashes around ${indexed(index)} do not lead to the signed root: they were altered, so ` +
        'the event cannot be verified.',
    ),
  event_missing: ({ position }) =>
    failed(`The signed history has no event at position ${position}, but this page shows one.`),
  event_altered: ({ index }) =>
    failed(`The event at ${indexed(index)} was altered: it is not the one that was signed.`),
  event_listed_differently: ({ index, field }) =>
    failed(
      `The event at ${indexed(index)} has another ${short(field)} in the signed history than on this page.`,
    ),
}

const explainFailure = <Reason extends Failure['reason']>(
  failure: Extract<Failure, { reason: Reason }>,
): Explanation => {
  const explanation: FailureTable[Reason] = failures[failure.reason as Reason]
  return explanation(failure)
}

const unavailableReason = (unavailable: Unavailable): string => {
  if (unavailable.reason === 'aborted') return 'The verification was stopped.'
  if (unavailable.reason === 'offline') return 'The server could not be reached.'
  return `The server refused the request with status ${unavailable.status}.`
}

const unavailable = (unavailable: Unavailable): Explanation => ({
  summary: `${unavailableReason(unavailable)} Nothing was verified.`,
  proves: [],
  limits: ['This is neither a confirmation nor a sign of tampering.'],
  advice: ['Try again. If it persists, treat the history as unverified.'],
})

const unsupportedReasons: Record<Unsupported, string> = {
  webcrypto: 'This page has no WebCrypto, which browsers offer over HTTPS and on localhost only.',
  ed25519:
    'This browser cannot verify Ed25519 signatures. Chrome and Edge 137, Firefox 129 and Safari 17 ' +
    'or later can.',
}

const unsupported = (missing: Unsupported): Explanation => ({
  summary: `${unsupportedReasons[missing]} Nothing was verified.`,
  proves: [],
  limits: ['This is neither a confirmation nor a sign of tampering.'],
  advice: [independentCheck],
})

/** What a result proves, what it does not, and what to do next. */
export const explain = (result: LogResult | EventResult): Explanation => {
  if (result.kind === 'failed') return explainFailure(result.failure)
  if (result.kind === 'unavailable') return unavailable(result.unavailable)
  if (result.kind === 'unsupported') return unsupported(result.missing)
  return verified(result.log, 'event' in result ? result.event : undefined)
}
