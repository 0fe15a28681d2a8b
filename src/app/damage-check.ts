import type { Check } from '../http/routes/health.ts'
import type { Damage } from '../ports/damage.ts'

/** So many places are named; of more only their number is. */
const named = 20

const placeOf = ({ store, what, from, to }: Damage): string => {
  if (store === 'read_models') return `the read model ${what}, which is folded again`
  if (from === undefined && to === undefined) return 'the log of events'
  if (from === to) return `position ${from}`
  return `positions ${from ?? 0} to ${to ?? 'the end'}`
}

/** What is damaged, for everybody: places, and nothing of what was stored there. */
export const damageCheck = (damage: readonly Damage[]): Check => {
  if (damage.length === 0) return { ok: true }
  const places = [...new Set(damage.map(placeOf))]
  const more = places.length > named ? ` and ${places.length - named} more` : ''
  return { ok: false, detail: `damaged: ${places.slice(0, named).join(', ')}${more}` }
}
