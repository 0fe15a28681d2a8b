import type { ResolveHook } from 'node:module'

const counted = new URL('./lmdb.js', import.meta.url).href

/** Everybody but the counting one gets lmdb with its calls counted. */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === 'lmdb' && context.parentURL !== counted
    ? { url: counted, shortCircuit: true }
    : next(specifier, context)
