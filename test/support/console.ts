import type { StartedApp } from './server.ts'

/** Where tests reach the server: the origin of its own pages. */
export const host = 'console.example'
export const origin = `http://${host}`

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Headers = Record<string, string>

/** A request as a browser sends it, without a network. */
export const browsing =
  (app: Pick<StartedApp, 'http'>) =>
  async (method: Method, url: string, headers: Headers = {}, payload?: object | string) => {
    const reply = await app.http.inject({
      method,
      url,
      headers: { host, ...headers },
      ...(payload === undefined ? {} : { payload }),
    })
    const isJson = String(reply.headers['content-type']).startsWith('application/json')
    return {
      status: reply.statusCode,
      code: reply.headers['x-error-code'],
      headers: reply.headers,
      text: reply.body,
      body: isJson ? reply.json() : undefined,
    }
  }

/** The name and value of a cookie that an answer sets, as a browser sends it back. */
export const cookieIn = ({ headers }: { headers: Record<string, unknown> }): string =>
  String([headers['set-cookie']].flat().at(-1)).split(';', 1)[0] ?? ''

/** Signs in with a key: the answer, and requests of a page of the console. */
export const signIn = async (app: Pick<StartedApp, 'http'>, key: string, from: Headers = {}) => {
  const browse = browsing(app)
  const answer = await browse('POST', '/console/session', { origin, ...from }, { api_key: key })
  const cookie = cookieIn(answer)
  const csrf = String(answer.body?.csrf_token)
  const ask = (method: Method, url: string, body?: object, headers: Headers = {}) =>
    browse(
      method,
      url,
      { cookie, ...(method === 'GET' ? {} : { origin, 'x-csrf-token': csrf }), ...headers },
      body,
    )
  return { answer, cookie, csrf, ask }
}
