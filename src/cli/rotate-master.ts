import { readFile } from 'node:fs/promises'
import { setTimeout as after } from 'node:timers/promises'
import { z } from 'zod'
import { CommandFailed } from './command-failed.ts'
import type { Remote } from './remote.ts'

const pollMs = 200
const path = '/api/admin/master-key/rotation'

const status = z.object({ state: z.string(), rewrapped: z.number(), error: z.string().optional() })

const keyFrom = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8').catch(({ message }: Error) => {
    throw new CommandFailed(message)
  })
  const key = text.trim()
  if (z.base64().safeParse(key).success && Buffer.from(key, 'base64').length === 32) return key
  throw new CommandFailed(`${file} does not hold a master key: 32 bytes in base64`)
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')

/** @throws CommandFailed where the key would cross a network in the clear */
const assertPrivate = (url: string): void => {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw new CommandFailed(`a master key is sent over https only, not to ${url}`)
}

type Options = {
  ask: Remote
  url: string
  newKeyFile: string | undefined
  say: (line: string) => void
}

/** Has a running server replace its master key, and shows the progress. @throws CommandFailed */
export const rotateMaster = async ({ ask, url, newKeyFile, say }: Options): Promise<void> => {
  const key = newKeyFile === undefined ? undefined : await keyFrom(newKeyFile)
  if (key) assertPrivate(url)
  let now = status.parse(await ask('POST', path, key ? { new_master_key: key } : {}))
  let reported = 0
  while (now.state === 'rewrapping') {
    await after(pollMs)
    now = status.parse(await ask('GET', path))
    if (now.rewrapped >= reported + 10_000) {
      reported = now.rewrapped
      say(`${reported} data keys rewrapped`)
    }
  }
  const { state, rewrapped, error } = now
  if (state === 'interrupted')
    throw new CommandFailed(`interrupted${error ? ` (${error})` : ''}: run the command again`)
  if (state === 'rewrapped')
    say(
      `${rewrapped} data keys rewrapped. Both master keys are accepted. Start every node with the new ` +
        'MASTER_KEY, then run this command again: it ends the use of the old one.',
    )
  else say('the master key is the new one; the old one opens nothing')
}
