import { refusal } from '../src/domain/refusal.ts'

/** A place that an organization's history does not have. */
export const outsideHistory = (field: string, size: number) =>
  refusal('invalid_query', { fields: { [field]: [`The history has ${size} events`] } })
