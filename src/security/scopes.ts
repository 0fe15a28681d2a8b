import { refusal } from '../domain/refusal.ts'
import type { Access } from './access.ts'

/** @throws insufficient_scopes */
export const requireScopes = (
  { scopes }: Pick<Access, 'scopes'>,
  required: readonly string[],
): void => {
  if (required.every((scope) => scopes.has(scope))) return
  const requiredScopes = [...new Set(required)]
  const missingScopes = requiredScopes.filter((scope) => !scopes.has(scope))
  throw refusal('insufficient_scopes', {
    message: `The API key lacks: ${missingScopes.join(', ')}`,
    requiredScopes,
    missingScopes,
    availableScopes: [...scopes],
  })
}
