import { type EventIndexView, eventIndex } from '../../../projections/event-index.ts'
import { platformTransparency } from '../../../projections/platform-transparency.ts'
import { type NodesView, type TreeView, transparency } from '../../../projections/transparency.ts'
import { exportLines } from '../../../queries/export-lines.ts'
import { getCheckpoint } from '../../../queries/get-checkpoint.ts'
import { getLogKey } from '../../../queries/get-log-key.ts'
import { readEvents } from '../../../queries/read-events.ts'
import { readHistory } from '../../../queries/read-history.ts'
import { readTree } from '../../../queries/read-tree.ts'
import { masterKeyOf } from '../../app/master-key.ts'
import { configFrom, type Environment } from '../../config.ts'
import { platformId } from '../../domain/event.ts'
import { readSecret } from '../../security/master-keys.ts'
import { secretsOf } from '../../security/secrets.ts'
import { linesOf } from '../../support/lines.ts'
import { consistencyProof } from '../../transparency/proofs.ts'
import { CommandFailed } from '../command-failed.ts'
import { localStores } from '../local-stores.ts'
import type { History } from './history.ts'

const askTheServer = 'ask it instead: --url http://127.0.0.1:3000 --key …'

/**
 * The transparency log of the configured stores, up to its folded position. @throws CommandFailed
 */
export const localHistory = async (env: Environment, organization: string): Promise<History> => {
  const config = configFrom(env)
  const { events, keys, views, close } = await localStores(config, askTheServer)
  const { logKeySeed } = secretsOf(await readSecret(keys, await masterKeyOf(config)))
  const tree = readTree({
    transparency: await views.view<TreeView | NodesView>(transparency),
    platformTransparency: await views.view<TreeView | NodesView>(platformTransparency),
  })
  const { size } = await tree(organization)
  const whose = organization === platformId ? 'the platform' : `an organization ${organization}`
  if (size === 0) {
    await close()
    throw new CommandFailed(`no events of ${whose} are here`)
  }
  const index = await views.view<EventIndexView>(eventIndex)
  const indexed = await views.checkpoint(eventIndex.name)
  const history = readHistory({ store: events, eventIndex: index, indexed: () => indexed })
  const lines = exportLines({
    readTree: tree,
    readEvents: readEvents({ eventsAt: events.at, eventIndex: index, readHistory: history }),
  })
  return {
    key: async () => getLogKey({ logKeySeed })(organization),
    checkpoint: () => getCheckpoint({ readTree: tree, logKeySeed })(organization),
    hashes: async (level, from, to) => (await tree(organization)).hashes(level, { from, to }),
    async *lines(from, to) {
      const encoder = new TextEncoder()
      const texts = await lines(organization, from, to)
      async function* bytes() {
        for await (const text of texts) yield encoder.encode(text)
      }
      yield* linesOf(bytes())
    },
    consistency: async (from, to) => consistencyProof((await tree(organization)).nodes, from, to),
    close,
  }
}
