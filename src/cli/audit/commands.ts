import type { Environment } from '../../config.ts'
import { CommandFailed } from '../command-failed.ts'

export type AuditOptions = {
  organization?: string
  out?: string
  url?: string
  key?: string
  checkpoint?: string
  vkey?: string
  view?: string
  asOf?: string
  json?: boolean
  session?: string
}

type AuditCommand = { env: Environment; file: string | undefined; options: AuditOptions }

const required = (value: string | undefined, what: string): string => {
  if (!value) throw new CommandFailed(`${what} is required`, 2)
  return value
}

const organizationIn = (env: Environment, { organization }: AuditOptions) =>
  organization || env.REPRISE_ORGANIZATION

const exported = async ({ env, options }: AuditCommand): Promise<string> => {
  const organization = required(organizationIn(env, options), '--organization <id>')
  const path = required(options.out, '--out <file>')
  const { openHistory } = await import('./open-history.ts')
  const { exportHistory } = await import('./export-history.ts')
  const { progressBar } = await import('./progress-bar.ts')
  const history = await openHistory(env, { ...options, organization })
  const { progress, end } = progressBar('export')
  try {
    const size = await exportHistory({ history, organization, path, progress })
    return `${size} events in ${path}`
  } finally {
    end()
    await history.close()
  }
}

const verified = async ({ env, file, options }: AuditCommand): Promise<string> => {
  const { url, key, checkpoint, vkey } = options
  const path = required(file, 'the export to verify')
  const { openHistory } = await import('./open-history.ts')
  const { verifyHistory } = await import('./verify.ts')
  const { progressBar } = await import('./progress-bar.ts')
  const { progress, end } = progressBar('verify')
  const live = url
    ? (organization: string) => openHistory(env, { organization, url, key })
    : undefined
  try {
    return (await verifyHistory({ path, checkpoint, vkey, live, progress })).join('\n')
  } finally {
    end()
  }
}

const replayed = async ({ file, options }: AuditCommand): Promise<string> => {
  const path = required(file, 'the export to replay')
  const view = required(options.view, '--view <read model>')
  const { replayExport } = await import('./replay-export.ts')
  const { documentLines, documentTable } = await import('./documents.ts')
  const asOf = options.asOf === undefined ? undefined : String(options.asOf)
  const documents = await replayExport(path, { view, asOf })
  return options.json ? documentLines(documents) : documentTable(documents)
}

const sessionText = async ({ env, file, options }: AuditCommand): Promise<string> => {
  const session = String(required(options.session, '--session <id>'))
  const { eventsOfSession } = await import('./session-events.ts')
  const { sessionTree } = await import('./session-tree.ts')
  const organization = organizationIn(env, options)
  return sessionTree(
    session,
    await eventsOfSession(env, file, { ...options, organization, session }),
  )
}

const actions: Readonly<Record<string, (command: AuditCommand) => Promise<string>>> = {
  export: exported,
  verify: verified,
  replay: replayed,
  show: sessionText,
}

/** The output of an audit command. @throws CommandFailed */
export const audit = async (action: string, command: AuditCommand): Promise<string> => {
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (run) return run(command)
  throw new CommandFailed(
    `audit ${action} is unknown; there are: ${Object.keys(actions).join(', ')}`,
    2,
  )
}
