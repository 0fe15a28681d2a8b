import type { ResolveHook } from 'node:module'

const named = `export * from 'node:fs'
export const globSync = () => { throw new Error('globSync is of Node 22') }`

/** The conformance package imports `globSync`, which Node 20 lacks, for a command no test uses. */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')
    ? { url: `data:text/javascript,${encodeURIComponent(named)}`, shortCircuit: true }
    : next(specifier, context)
