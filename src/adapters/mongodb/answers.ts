import { setTimeout as pause } from 'node:timers/promises'
import {
  type Answers,
  answerLifetimeMs,
  type Claim,
  type StoredAnswer,
} from '../../ports/answers.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { isDuplicate, type Mongo, reaching } from './connect.ts'

const maxAttempts = 20

/** The answer is JSON, as names of headers cannot all be names of fields. */
type Entry = { _id: string; fingerprint: string; holder: string; at: number; answer?: string }

type Options = {
  /** Whether another process is alive; the claims of a dead one are taken over. */
  isAlive: (holder: string) => Promise<boolean>
}

/** First answers in MongoDB, shared by all nodes. */
export const mongoAnswers = ({ db }: Pick<Mongo, 'db'>, { isAlive }: Options): Answers => {
  const answers = db.collection<Entry>('reprise_answers')

  /** Undefined when another claim came in between: try again. */
  const attempt = async (
    scope: string,
    fingerprint: string,
    holder: string,
    now: Date,
  ): Promise<Claim | undefined> => {
    const mine = { fingerprint, holder, at: now.getTime() }
    try {
      await answers.insertOne({ _id: scope, ...mine })
      return { state: 'claimed' }
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
    const entry = await answers.findOne({ _id: scope })
    if (!entry) return undefined
    const isKept = now.getTime() - entry.at < answerLifetimeMs
    if (isKept) {
      if (entry.fingerprint !== fingerprint) return { state: 'reused' }
      if (entry.answer !== undefined)
        return { state: 'answered', answer: JSON.parse(entry.answer) as StoredAnswer }
      if (entry.holder === holder || (await isAlive(entry.holder))) return { state: 'running' }
    }
    const { holder: before, at } = entry
    const answer = entry.answer ?? { $exists: false }
    const result = await answers.replaceOne({ _id: scope, holder: before, at, answer }, mine)
    if (result.matchedCount !== 1) return undefined
    return isKept ? { state: 'claimed', takenOver: true } : { state: 'claimed' }
  }

  return {
    claim: (scope, fingerprint, holder, now) =>
      reaching(async () => {
        for (let n = 1; n <= maxAttempts; n++) {
          const claim = await attempt(scope, fingerprint, holder, now)
          if (claim) return claim
          await pause(n)
        }
        throw new StoreUnavailable(`too many claims at once on ${scope}`)
      }),

    complete: (scope, holder, answer, now) =>
      reaching(async () => {
        const done = { answer: JSON.stringify(answer), at: now.getTime() }
        await answers.updateOne({ _id: scope, holder }, { $set: done })
      }),

    release: (scope, holder) =>
      reaching(async () => {
        await answers.deleteOne({ _id: scope, holder })
      }),

    sweep: (now) =>
      reaching(async () => {
        const { deletedCount } = await answers.deleteMany({
          at: { $lte: now.getTime() - answerLifetimeMs },
        })
        return deletedCount
      }),
  }
}
