import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'

/** Why the number of file handles cannot be set here; false: it can. */
export const noHandleLimits = (): string | false =>
  spawnSync('prlimit', ['--version']).status !== 0 && 'there is no prlimit'

/** Handles of a process and of those that it has started, whose limit is set by `prlimit`. */
export const handlesOf = (pid: number) => {
  const limit = (soft: number | string) => {
    const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`])
    if (status !== 0) throw new Error(String(stderr))
  }
  const [, usual = ''] =
    /^Max open files\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? []
  return {
    /**
     * Only so many more can be opened, or as many as are free below the highest: answers how many.
     */
    leave(count: number): number {
      const open = readdirSync(`/proc/${pid}/fd`).map(Number)
      const most = Math.max(...open) + 1
      const all = Math.max(most, open.length + count)
      limit(all)
      return all - open.length
    },
    restore: () => limit(usual),
  }
}

/** Enough to start something, once they are free again. */
const spare = 64

/** Takes all handles of this process, until `free` is called or the test ends. */
export const takeHandles = (t: Test): { free(): void } => {
  const { leave, restore } = handlesOf(process.pid)
  leave(spare)
  const handles: number[] = []
  try {
    for (;;) handles.push(openSync('/dev/null', 'r'))
  } catch {
    // There is none left.
  }
  const free = () => {
    for (const handle of handles.splice(0)) closeSync(handle)
  }
  t.teardown(() => {
    free()
    restore()
  })
  return { free }
}
