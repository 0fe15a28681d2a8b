import { readdirSync, readFileSync } from 'node:fs'

/** The processes that a process has started to run a script. */
export const childrenOf = (pid: number, script: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return parent === pid && command.includes(script) ? [Number(name)] : []
    } catch {
      return []
    }
  })
