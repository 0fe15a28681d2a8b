import { register } from 'node:module'

/** Loaded before the package for conformance, so that it runs on Node 20 too. */
register('./hooks.js', import.meta.url)
