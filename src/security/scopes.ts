import { refusal } from '../domain/refusal.ts'
import type { Access } from './access.ts'

/** Scopes that depend on what is asked (`stream`, `on_behalf_of`). @throws insufficient_scopes */
export const requireScopes = ({ scopes }: Access, required: readonly string[]): void => {
  if (required.every((scope) => scopes.has(scope))) return
  const missingScopes = required.filter((scope) => !scopes.has(scope))
  throw refusal('insufficient_scopes', {
    message: `The API key lacks: ${missingScopes.join(', ')}`,
    requiredScopes: required,
    missingScopes,
    availableScopes: [...scopes],
  })
}
