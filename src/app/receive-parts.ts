import { join } from 'node:path'
import type { OpenDiskSpace } from '../adapters/embedded/disk-space.ts'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import type { Config } from '../config.ts'
import { openSpool } from '../security/spool.ts'
import { opening } from '../support/disposal.ts'
import { receiveParts } from '../turns/begin/receive-parts.ts'

type Uses = {
  config: Pick<Config, 'DATA_DIR'>
  space: Pick<OpenDiskSpace, 'room'>
  /** Hosts that files may be fetched from although they are private, for tests. */
  privateHosts: readonly string[]
}

/** How files of messages come in. */
export const openReceiveParts = ({ config, space, privateHosts }: Uses) =>
  opening(async (opened) => {
    const outbound = opened.use(guardedOutbound({ allowHosts: privateHosts }))
    const folder = join(config.DATA_DIR, 'arriving')
    const spool = await openSpool(folder, space.room('files', folder))
    return { receiveParts: receiveParts({ spool, outbound }) }
  })
