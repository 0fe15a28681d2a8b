import t from 'tap'
import { connectMongo } from '../../src/adapters/mongodb/connect.ts'
import { mongoViews } from '../../src/adapters/mongodb/views.ts'
import { viewsContract } from '../contracts/views.ts'
import { needsMongo, ownDatabase } from '../support/mongo.ts'

t.test('MongoDB views', needsMongo, async (t) => {
  viewsContract(t, async (t) => {
    const url = await ownDatabase(t)
    return {
      open: async () => {
        const mongo = await connectMongo(url)
        return { ...mongoViews(mongo), close: mongo.close }
      },
    }
  })
})
