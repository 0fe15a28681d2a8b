import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply, onRequestHookHandler } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import { unbuiltConsolePage } from '../pages/console-pages.ts'
import { sendPage } from '../pages/page.ts'

/** The console loads everything from this server, and no other page may frame it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

type Uses = {
  /** Of the built console: `index.html`, and `assets` with names that have a hash. */
  folder: string
  requireHttps: onRequestHookHandler
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** The assets, also those compressed when the console was built: `main.js.gz` for `main.js`. */
const assetRoutes =
  (root: string): FastifyPluginAsync =>
  async (http) => {
    http.addHook('onRequest', async (_request, reply) => {
      reply.header('vary', 'accept-encoding')
    })
    await http.register(fastifyStatic, {
      root,
      prefix: '/console/assets/',
      decorateReply: false,
      index: false,
      redirect: false,
      dotfiles: 'ignore',
      preCompressed: true,
      immutable: true,
      maxAge: '365d',
    })
  }

/**
 * The built console (docs/contract/authentication.md#console-sessions). Its pages need no cookie:
 * every path that is no asset answers the same page, which then calls the API.
 */
export const consoleRoutes =
  ({ folder, requireHttps }: Uses): FastifyPluginAsync =>
  async (http) => {
    const index = join(folder, 'index.html')
    const root = join(folder, 'assets')
    const isBuilt = existsSync(root)

    /** Undefined while the console is being built again. */
    const indexPage = () =>
      readFile(index).catch((error) => {
        if (isMissing(error)) return undefined
        throw error
      })

    const sendIndex = async (reply: FastifyReply) => {
      const html = isBuilt ? await indexPage() : undefined
      if (!html) return sendPage(reply, 200, unbuiltConsolePage())
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
          'content-security-policy': policy,
          'referrer-policy': 'no-referrer',
          'x-frame-options': 'DENY',
        })
        .send(html)
    }

    http.addHook('onRequest', requireHttps)
    for (const url of ['/console', '/console/*'])
      http.get(url, { schema: { hide: true } }, async (_request, reply) => sendIndex(reply))
    if (isBuilt) await http.register(assetRoutes(root))
    else
      http.get('/console/assets/*', { schema: { hide: true } }, async () => {
        throw refusal('not_found')
      })
  }
