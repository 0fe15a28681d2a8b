import t from 'tap'
import { fuzzWorld } from '../../support/fuzz-world.ts'
import { contractOf, operationsOf } from '../../support/open-api.ts'
import { raw } from '../../support/raw.ts'
import { movableClock, startApp } from '../../support/server.ts'

const events = 'text/event-stream'
const lines = 'application/x-ndjson'

t.test('HEAD is answered as GET is, without a body', async (t) => {
  const clock = movableClock()
  const { url, platform } = await startApp(t, {}, { clock })
  const { one: ids, keys } = await fuzzWorld(platform)
  const gets = operationsOf(await contractOf(url)).filter(({ method }) => method === 'get')
  const types = new Set<unknown>()
  for (const { path, operation } of gets) {
    // To follow a feed ends by itself only as lines.
    const isFeed = path.endsWith('/feeds/{read_model}')
    const key = path.startsWith('/api/admin/') ? keys.platform : keys.own
    const parameters = operation.parameters?.filter((parameter) => parameter.in === 'query') ?? []
    const query = new URLSearchParams(
      parameters.flatMap(({ name, required, example }): [string, string][] => {
        if (name === 'stream' && path.includes('/responses/')) return [[name, 'true']]
        return required ? [[name, String(example ?? ids[name])]] : []
      }),
    )
    const at = `${path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')}?${query}`
    const { content = {} } = operation.responses[200] ?? {}
    for (const accept of lines in content ? [lines, '*/*'] : ['*/*']) {
      const ask = async (method: string) => {
        clock.advance(1_000)
        const headers = { 'x-api-key': key, accept }
        const answer = await raw(url)(at, { method, headers, patienceMs: 20_000 })
        types.add(answer.status < 300 && answer.headers['content-type']?.split(';')[0])
        return answer
      }
      const head = await ask('HEAD')
      t.equal(head.text, '', `${at}: no body`)
      if (isFeed) t.equal(head.status, 405, at)
      else {
        const { status, headers } = await ask('GET')
        t.match(
          head,
          { status, headers: { 'content-type': headers['content-type'] } },
          `${at} ${accept}`,
        )
      }
    }
  }
  for (const type of ['application/json', events, lines]) t.ok(types.has(type), type)
})
