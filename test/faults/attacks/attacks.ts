import { rounds } from '../../support/rounds.ts'
import type { Attack } from '../../support/under-attack.ts'
import { compressedTexts } from './compressed-texts.ts'
import { deepJson } from './deep-json.ts'
import { floodsOfSignIns } from './floods-of-sign-ins.ts'
import { generatedTexts } from './generated-texts.ts'
import { largeAgents } from './large-agents.ts'
import { largeFiles } from './large-files.ts'
import { largeForms } from './large-forms.ts'
import { largeSteps } from './large-steps.ts'
import { longHeadings } from './long-headings.ts'
import { longPrompts } from './long-prompts.ts'
import { nestedLoops } from './nested-loops.ts'
import { retriesOfOthers } from './retries-of-others.ts'
import { schemas } from './schemas.ts'
import { searches } from './searches.ts'
import { slowDocuments } from './slow-documents.ts'
import { stalledOutput } from './stalled-output.ts'
import { strangersFrames } from './strangers-frames.ts'
import { unreadAnswers } from './unread-answers.ts'
import { unreadBodies } from './unread-bodies.ts'
import { unreadFeeds } from './unread-feeds.ts'
import { unreadHistories } from './unread-histories.ts'
import { waitingRequests } from './waiting-requests.ts'
import { wideJson } from './wide-json.ts'
import { wideMcpAnswers } from './wide-mcp-answers.ts'

/** What one tenant, or a client without a key, may try on a server, by what it is. */
export const attacks: Readonly<Record<string, Attack>> = {
  'answers that are not read': unreadAnswers,
  'JSON of many levels and values': deepJson,
  'schemas and patterns made to do harm': schemas,
  'loops in loops': nestedLoops,
  'texts that compress': compressedTexts,
  'a document that grows when it is cut': longHeadings,
  'megabytes of system text': longPrompts,
  'documents that are slow to read': slowDocuments,
  'searches for hundreds of words': searches,
  'steps without end, with much text': largeSteps,
  'pictures in bodies of 10 MB': largeFiles,
  'hundreds of large agents that change': largeAgents,
  'output that is not read': stalledOutput,
  'feeds that are not read': unreadFeeds,
  'feeds from the beginning that are not read': unreadHistories,
  'requests that wait on connections by the hundred': waitingRequests,
  'bodies without a key for unknown paths': unreadBodies,
  'large frames without a key': strangersFrames,
  'sign-ins to the console by the thousand': floodsOfSignIns,
  'retries of what others of the key have said': retriesOfOthers,
  'values that are each an error': wideJson,
  'answers of servers that are each an error': wideMcpAnswers,
  'small inputs that multiply': generatedTexts,
  'forms that nobody asked for, and files in JSON': largeForms,
}

const names = Object.keys(attacks)

/** Tried at once, in soak.test.ts: for everyday a third of them. */
export const namesAtOnce = names.filter((_, n) => n % rounds(3, 1) === 0)

/** Tried one after another, in attacks.test.ts: for everyday those that are not tried at once. */
export const namesAlone = names.filter((name) => rounds(0, 1) || !namesAtOnce.includes(name))
