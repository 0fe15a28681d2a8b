import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Request } from 'autocannon'
import { type Serving, serve } from './processes.ts'

const script = 'build/start-server.js'

/** Where it is installed: `npm install --prefix bench --no-save @portkey-ai/gateway`. */
const installed = (): string | undefined => {
  try {
    const { resolve } = createRequire(join(process.cwd(), 'bench', 'portkey.js'))
    return join(dirname(resolve('@portkey-ai/gateway/package.json')), script)
  } catch {
    return undefined
  }
}

/** Portkey's gateway, which forwards calls to providers; undefined if it is not installed. */
export const servePortkey = async (): Promise<Serving | undefined> => {
  const path = installed()
  return path === undefined
    ? undefined
    : serve({ script: pathToFileURL(path).href, args: ['--headless'], health: '/' })
}

/** The request that the gateway passes on to a provider. */
export const portkeyRequest = ({ url }: Serving): Request => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: {
    'content-type': 'application/json',
    authorization: 'Bearer key',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${url}/v1`,
  },
  body: JSON.stringify({
    model: 'mock/model',
    messages: [{ role: 'user', content: 'What does the contract say about notice?' }],
  }),
})
