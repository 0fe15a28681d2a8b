import fastify from 'fastify'
import t from 'tap'
import { linesBody } from '../../../src/http/streams/ndjson.ts'

t.test('HEAD reads no lines', async (t) => {
  const http = fastify()
  t.teardown(() => http.close())
  let read = 0
  async function* lines() {
    for (const line of ['1\n', '2\n']) {
      read++
      yield line
    }
  }
  http.get('/', (request, reply) => reply.send(linesBody(request, lines())))
  t.match(await http.inject({ method: 'HEAD', url: '/' }), { statusCode: 200, body: '' })
  t.equal(read, 0)
  t.equal((await http.inject('/')).body, '1\n2\n')
  t.equal(read, 2)
})
