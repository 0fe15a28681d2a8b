import { readModels } from '../projections/all.ts'
import type { ReadModel } from '../projections/projection.ts'
import { refusal } from '../src/domain/refusal.ts'

/** @throws read_model_not_found */
export const findReadModel = (name: string): ReadModel => {
  const model = readModels.get(name)
  if (model) return model
  const names = [...readModels.keys()].join(', ')
  throw refusal('read_model_not_found', { message: `${name} is none of: ${names}` })
}
