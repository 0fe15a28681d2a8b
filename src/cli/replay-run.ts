import { readFile } from 'node:fs/promises'
import { type Replayed, type ReplayedPlace, replayed } from '../http/wire/replayed.ts'
import { CommandFailed } from './command-failed.ts'
import type { Remote } from './remote.ts'

/** Lines that two texts begin and end with alike are left out. */
const difference = (before: string, now: string): string[] => {
  const [was, is] = [before.split('\n'), now.split('\n')]
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start++
  let end = 0
  const most = Math.min(was.length, is.length) - start
  while (end < most && was.at(-1 - end) === is.at(-1 - end)) end++
  return [
    ...was.slice(start, was.length - end).map((line) => `    - ${line}`),
    ...is.slice(start, is.length - end).map((line) => `    + ${line}`),
  ]
}

const callsOf = ({ asked: request }: NonNullable<ReplayedPlace>): string =>
  (request?.calls ?? []).map((call) => `${call.name} ${call.arguments}`).join('\n')

/** The texts of a place, by what they are called in the report. */
const textsOf = (place: ReplayedPlace): Record<string, string> => {
  if (!place) return {}
  const { asked: request, called } = place
  return {
    ...(request
      ? {
          model: request.model,
          system: request.system,
          tools: request.tools.join('\n'),
          answer: request.answered ? request.answer : '(no answer is recorded here)',
          calls: callsOf(place),
        }
      : {}),
    ...(called ? { tool: called.tool, arguments: called.arguments, result: called.result } : {}),
  }
}

const words = { changed: 'would change', gone: 'would not run', new: 'would run as well' } as const

const step = ({ at, change, changed, before, now }: Replayed['steps'][number]): string[] => {
  const agent = now?.agent ?? before?.agent ?? ''
  const kind = (now ?? before)?.called ? 'tool' : 'model'
  const [was, is] = [textsOf(before), textsOf(now)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => (was[name] ?? '') !== (is[name] ?? ''),
  )
  const others = changed.filter((name) => !names.includes(name) && name !== 'agent')
  return [
    `${at}  ${agent} (${kind}) ${words[change]}`,
    ...names.flatMap((name) => [`  ${name}`, ...difference(was[name] ?? '', is[name] ?? '')]),
    ...(change === 'changed' ? others.map((name) => `  ${name} differ`) : []),
  ]
}

const report = ({ run_id, session_id, model, same, steps, answer, error }: Replayed): string => {
  const lines = [
    `run ${run_id} of session ${session_id}, model: ${model}`,
    ...steps.flatMap(step),
    ...(error ? [`today the run would fail: ${error}`] : []),
    ...(answer.changed ? ['answer', ...difference(answer.before, answer.now)] : []),
    `${same} steps as recorded, ${steps.length} would differ; the answer ${answer.changed ? 'would differ' : 'is the same'}`,
  ]
  return lines.join('\n')
}

/** `<agent id>=<file>` as the instruction that the file holds. */
const instructionIn = async (given: string): Promise<[string, string]> => {
  const at = given.indexOf('=')
  if (at < 1) throw new CommandFailed('--instruction takes <agent id>=<file>', 2)
  const text = await readFile(given.slice(at + 1), 'utf8').catch(({ message }: Error) => {
    throw new CommandFailed(message)
  })
  return [given.slice(0, at), text]
}

type ReplayOptions = {
  organization: string
  run: string
  model: string
  /** Each `<agent id>=<file>`. */
  instructions: readonly string[]
  json: boolean
}

/**
 * What would change if a run were run with the agents of today, as a server finds it. @throws
 * CommandFailed
 */
export const replayedRun = async (ask: Remote, options: ReplayOptions): Promise<string> => {
  const { organization, run, model, json } = options
  if (model !== 'recorded' && model !== 'live')
    throw new CommandFailed('--model is recorded or live', 2)
  const instructions = Object.fromEntries(
    await Promise.all(options.instructions.map(instructionIn)),
  )
  const [owner, id] = [organization, run].map(encodeURIComponent)
  const path = `/api/admin/organizations/${owner}/runs/${id}/replay`
  const replay = replayed.parse(await ask('POST', path, { model, instructions }))
  return json ? JSON.stringify(replay) : report(replay)
}
