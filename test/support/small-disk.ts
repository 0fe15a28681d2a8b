import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

const megabyte = 1_048_576

/** Why there can be no small disk here; false: there can. */
export const noSmallDisk = (): string | false => {
  if (process.platform !== 'linux') return 'mount namespaces need Linux'
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()])
  return status !== 0 && 'mounting a file system needs root'
}

/** A file system of its own size, which only processes see that are started by `by`. */
export const smallDisk = async (t: Test, sizeMb: number) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-disk-'))
  const script = `mount -t tmpfs -o size=${sizeMb}m tmpfs "$0" && echo mounted && exec sleep infinity`
  const holder = spawn('unshare', ['--mount', 'sh', '-c', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    holder.kill('SIGKILL')
    await rm(path, { recursive: true, force: true })
  })
  await once(holder.stdout, 'data')
  const inside = join('/proc', String(holder.pid), 'root', path)
  let files = 0
  const fillers: string[] = []
  return {
    /** For processes on it. */
    path,
    by: ['nsenter', '--mount', '--target', String(holder.pid)],
    freeMb: async () => {
      const { bavail, bsize } = await statfs(inside)
      return (bavail * bsize) / megabyte
    },
    /** Takes so much of it, at most all. */
    async take(sizeMb: number): Promise<void> {
      const name = join(inside, `filler-${files++}`)
      fillers.push(name)
      const file = await open(name, 'wx')
      const piece = Buffer.alloc(megabyte / 16)
      try {
        for (let n = 0; n < 16 * sizeMb; n++) await file.write(piece)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        await file.close()
      }
    },
    /** Gives back what was taken. */
    async empty(): Promise<void> {
      for (const name of fillers.splice(0)) await rm(name)
    },
  }
}
