import { problem } from '../domain/problems.ts'
import type { Access } from './access.ts'

/** Scopes that depend on what is asked (`stream`, `on_behalf_of`). @throws insufficient_scopes */
export const requireScopes = ({ scopes }: Access, required: readonly string[]): void => {
  if (required.every((scope) => scopes.has(scope))) return
  const missing_scopes = required.filter((scope) => !scopes.has(scope))
  throw problem('insufficient_scopes', {
    message: `The API key lacks: ${missing_scopes.join(', ')}`,
    required_scopes: required,
    missing_scopes,
    available_scopes: [...scopes],
  })
}
