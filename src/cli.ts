#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { cac } from 'cac'
import { exitCodeOf } from './app/exit-code.ts'
import { type AuditOptions, audit } from './cli/audit/commands.ts'
import { CommandFailed } from './cli/command-failed.ts'
import { eventLines } from './cli/events.ts'
import { feedLines } from './cli/feed.ts'
import { openProjections } from './cli/open-projections.ts'
import { listed, rebuildAll, verifyAll } from './cli/projections.ts'
import { defaultUrl, remote } from './cli/remote.ts'
import { replayedRun } from './cli/replay-run.ts'
import { rotateMaster } from './cli/rotate-master.ts'
import type { Environment } from './config.ts'

const { env, stdout, stderr } = process
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const say = (line: string) => void stderr.write(`${line}\n`)

// The reader may close the pipe early (`| head`).
stdout.on('error', () => process.exit(0))

const cli = cac('reprise')
/** An option `--no-…` is off: the library calls it true by default. */
const withoutTrue = (body: string): string => body.replaceAll(' (default: true)', '')

cli.help((sections) =>
  sections.map(({ title, body }) => ({ ...(title ? { title } : {}), body: withoutTrue(body) })),
)
cli.version(version)

cli.command('help', 'Show this help').action(() => {
  cli.unsetMatchedCommand()
  cli.outputHelp()
})

cli.command('serve', 'Start the server').action(async () => {
  const { serve } = await import('./app/serve.ts')
  await serve(env)
})

const keyIn = ({ REPRISE_API_KEY, SUPER_ADMIN_KEY }: Environment): string => {
  const key = REPRISE_API_KEY || SUPER_ADMIN_KEY
  if (key) return key
  throw new CommandFailed('REPRISE_API_KEY (with admin:read) or SUPER_ADMIN_KEY must be set')
}

const organizationIn = ({ organization }: { organization?: string }): string => {
  const named = organization || env.REPRISE_ORGANIZATION
  if (named) return named
  throw new CommandFailed('--organization <id> is required', 2)
}

const actions = ['list', 'rebuild', 'verify']

cli
  .command(
    'projections <action> [name]',
    'list read models; rebuild one beside the live one, or verify it against the log (default: all)',
  )
  .option('--url <url>', 'Ask the server at this URL, with SUPER_ADMIN_KEY')
  .action(async (action: string, name: string | undefined, { url }: { url?: string }) => {
    if (!actions.includes(action))
      throw new CommandFailed(
        `projections ${action} is unknown; there are: ${actions.join(', ')}`,
        2,
      )
    const projections = await openProjections(env, url)
    try {
      if (action === 'list') stdout.write(`${await listed(projections)}\n`)
      else if (action === 'rebuild') await rebuildAll(projections, name, say)
      else await verifyAll(projections, name, (line) => stdout.write(`${line}\n`))
    } finally {
      await projections.close()
    }
  })

cli
  .command('accounts <action>', 'duplicates: list accounts that have the same address or identity')
  .action(async (action: string) => {
    if (action !== 'duplicates')
      throw new CommandFailed(`accounts ${action} is unknown; there is: duplicates`, 2)
    const { duplicateAccounts } = await import('./cli/duplicate-accounts.ts')
    stdout.write(`${await duplicateAccounts(env)}\n`)
  })

type KeyOptions = { newKeyFile?: string; url?: string }

cli
  .command('keys <action>', 'rotate-master: replace the master key of a running server')
  .option('--new-key-file <file>', 'The new MASTER_KEY; left out: a new one, where DATA_DIR has it')
  .option('--url <url>', `The server (default: ${defaultUrl(env)})`)
  .action(async (action: string, { newKeyFile, url = defaultUrl(env) }: KeyOptions) => {
    if (action !== 'rotate-master')
      throw new CommandFailed(`keys ${action} is unknown; there is: rotate-master`, 2)
    if (!env.SUPER_ADMIN_KEY) throw new CommandFailed('SUPER_ADMIN_KEY must be set')
    await rotateMaster({ ask: remote(url, env.SUPER_ADMIN_KEY), url, newKeyFile, say })
  })

cli
  .command('backup', 'Back up DATA_DIR, whose server may be running')
  .option('--out <file>', 'The file to make: all but the master key')
  .action(async ({ out }: { out?: string }) => {
    const { backup, readingLog } = await import('./cli/backup.ts')
    await readingLog(env, out, async () => {
      stdout.write(`${await backup({ env, say }, out)}\n`)
    })
  })

cli
  .command('restore', 'Restore a backup into an empty DATA_DIR')
  .option('--from <file>', 'The backup')
  .option('--erasures <file>', 'What was erased after it: a list that `reprise erasures` wrote')
  .action(async (options: { from?: string; erasures?: string }) => {
    const { restored } = await import('./cli/backup.ts')
    stdout.write(`${await restored({ env, say }, options)}\n`)
  })

cli
  .command('erasures', 'List the erasures in DATA_DIR, whose server may be running')
  .option('--after <position>', 'Those after this position, which is that of a backup')
  .option('--out <file>', 'The file to write (default: the output)')
  .action(async (options: { after?: number | string; out?: string }) => {
    const { erasures, readingLog } = await import('./cli/backup.ts')
    await readingLog(env, options.out, () =>
      erasures({ env, say }, options, (line) => stdout.write(`${line}\n`)),
    )
  })

type EventOptions = {
  organization?: string
  stream?: string
  type?: string
  after?: number
  follow?: boolean
  json?: boolean
  url?: string
}

cli
  .command('events', 'Show the events of an organization, from a running server')
  .option(
    '--organization <id>',
    'The organization (default: REPRISE_ORGANIZATION); platform: the platform itself',
  )
  .option('--stream <name>', 'Only events of this stream')
  .option('--type <type>', 'Only events of this type')
  .option('--after <position>', 'Continue after this position')
  .option('--follow', 'Wait for further events')
  .option('--json', 'Whole events, one JSON object per line')
  .option('--url <url>', `The server (default: ${defaultUrl(env)})`)
  .action(async ({ url = defaultUrl(env), ...options }: EventOptions) => {
    const organization = organizationIn(options)
    const key = keyIn(env)
    for await (const line of eventLines(remote(url, key), { ...options, organization }))
      stdout.write(`${line}\n`)
  })

cli
  .command(
    'audit <action> [file]',
    'export a history, verify or replay an export, show the runs of a session',
  )
  .option(
    '--organization <id>',
    'The organization (export, show; default: REPRISE_ORGANIZATION); platform: the platform itself (export)',
  )
  .option('--out <file>', 'The file to write (export); an interrupted export continues')
  .option('--url <url>', 'Ask the server at this URL')
  .option('--key <key>', 'Its API key (default: REPRISE_API_KEY or SUPER_ADMIN_KEY)')
  .option('--checkpoint <file>', 'A saved checkpoint (verify)')
  .option('--vkey <key>', 'A saved verifier key (verify)')
  .option('--view <name>', 'The read model (replay)')
  .option('--as-of <time or position>', 'The time or position (replay)')
  .option('--json', 'Documents, one JSON object per line (replay)')
  .option('--session <id>', 'The session (show)')
  .action(async (action: string, file: string | undefined, options: AuditOptions) => {
    stdout.write(`${await audit(action, { env, file, options })}\n`)
  })

type RunOptions = {
  organization?: string
  model: string
  instruction?: string | string[]
  json?: boolean
  url?: string
}

cli
  .command(
    'runs <action> <run>',
    'replay: tell a run again with the agents as they are now, and show what would change',
  )
  .option('--organization <id>', 'The organization (default: REPRISE_ORGANIZATION)')
  .option('--model <which>', 'recorded, or live: ask models (needs SUPER_ADMIN_KEY)', {
    default: 'recorded',
  })
  .option('--instruction <agent id=file>', "Try this instruction instead of the agent's own")
  .option('--json', 'The whole answer, as JSON')
  .option('--url <url>', `The server (default: ${defaultUrl(env)})`)
  .action(async (action: string, run: string, options: RunOptions) => {
    const { url = defaultUrl(env), model, instruction = [], json = false } = options
    if (action !== 'replay')
      throw new CommandFailed(`runs ${action} is unknown; there is: replay`, 2)
    const organization = organizationIn(options)
    const instructions = [instruction].flat()
    const replay = { organization, run, model, instructions, json }
    stdout.write(`${await replayedRun(remote(url, keyIn(env)), replay)}\n`)
  })

type FeedOptions = { organization?: string; after?: number; snapshot: boolean; url?: string }

cli
  .command(
    'feed <action> <read_model>',
    'tail: show a read model as it changes, one change per line',
  )
  .option('--organization <id>', 'The organization (default: REPRISE_ORGANIZATION)')
  .option('--after <position>', 'Continue after this position')
  .option('--no-snapshot', 'Only changes from now on (default: what is there comes first)')
  .option('--url <url>', `The server (default: ${defaultUrl(env)})`)
  .action(async (action: string, readModel: string, options: FeedOptions) => {
    const { url = defaultUrl(env), after, snapshot } = options
    if (action !== 'tail') throw new CommandFailed(`feed ${action} is unknown; there is: tail`, 2)
    const organization = organizationIn(options)
    const key = keyIn(env)
    const feed = { url, key, organization, readModel, after, snapshot, say }
    for await (const line of feedLines(feed)) stdout.write(`${line}\n`)
  })

const run = async (): Promise<void> => {
  const { options } = cli.parse(process.argv, { run: false })
  if (options.help || options.version) return
  if (cli.matchedCommand) return cli.runMatchedCommand()
  const [word] = cli.args
  if (word) throw new CommandFailed(`${word} is unknown; see reprise --help`, 2)
  cli.outputHelp()
}

run().catch((error: Error) => {
  const { name, message } = error
  const isExpected = name === 'CommandFailed' || name === 'CACError'
  say(`reprise: ${isExpected ? '' : `${name}: `}${message}`)
  process.exit(
    error instanceof CommandFailed ? error.exitCode : name === 'CACError' ? 2 : exitCodeOf(error),
  )
})
