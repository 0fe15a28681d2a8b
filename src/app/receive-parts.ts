import { join } from 'node:path'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import { openSpool } from '../security/spool.ts'
import { opening } from '../support/disposal.ts'
import { receiveParts } from '../turns/begin/receive-parts.ts'
import type { Parts } from './parts.ts'

/** How files of messages come in. */
export const openReceiveParts = ({ host, storage }: Parts) =>
  opening(async (opened) => {
    const outbound = opened.use(guardedOutbound({ allowHosts: host.options.privateHosts ?? [] }))
    const folder = join(host.config.DATA_DIR, 'arriving')
    const spool = await openSpool(folder, storage.stores.space.room('files', folder))
    return { receiveParts: receiveParts({ spool, outbound }) }
  })
