import { eventually } from './eventually.ts'
import type { StartedServer } from './server.ts'

/** What the greeting of a first start says to export. */
export const exportsOf = async ({ output }: Pick<StartedServer, 'output'>) => {
  await eventually(async () => output().includes('in a browser\n'))
  const lines = output().matchAll(/^ {2}export (\w+)=(\S+)$/gm)
  return Object.fromEntries(
    [...lines].map(([, name = '', value = '']): [string, string] => [name, value]),
  )
}
