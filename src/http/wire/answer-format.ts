import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { AnswerFormat } from '../../ports/model.ts'
import { freeJson, orAbsent } from './fields.ts'

const schemaName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'A name has 1 to 64 of A-Z a-z 0-9 _ -')

const answerSchema = freeJson(z.record(z.string(), z.unknown())).describe(
  'JSON Schema of the answer',
)

/** A schema to answer by. */
export const schemaFields = {
  name: schemaName,
  description: orAbsent(z.string().max(4_000)),
  schema: answerSchema,
  strict: orAbsent(z.boolean()),
}

/** `response_format` of a chat request (docs/contract/chat.md#structured-answers). */
export const responseFormat = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object'), schema: answerSchema.nullish() }),
    z.object({
      type: z.literal('json_schema'),
      json_schema: z.object(schemaFields),
    }),
  ],
  'type is one of text, json_object, json_schema',
)

export type ResponseFormat = z.infer<typeof responseFormat>

/** A schema that comes without a name has this one, as providers want one. */
const plainName = 'answer'

/** In the domain's terms; undefined for plain text. */
export const answerFormatOf = (format: ResponseFormat | undefined): AnswerFormat | undefined => {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') {
    const { type, schema } = format
    return schema ? { type: 'json_schema', name: plainName, schema } : { type }
  }
  const { name, description, schema, strict } = format.json_schema
  return {
    type: 'json_schema',
    name,
    ...(description === undefined ? {} : { description }),
    schema,
    ...(strict === undefined ? {} : { strict }),
  }
}

/** Where a request has its schema. */
export const schemaFieldOf = (format: ResponseFormat | undefined): string =>
  format?.type === 'json_object' ? 'response_format.schema' : 'response_format.json_schema.schema'

/** @throws invalid_input, too_complex for a schema that answers cannot be checked against */
export const requireUsable = async (
  format: AnswerFormat | undefined,
  organizationId: string,
  faultOf: JsonSchemas['faultOf'],
  field = schemaFieldOf(undefined),
): Promise<void> => {
  if (format?.type !== 'json_schema') return
  const fault = await faultOf(organizationId, format.schema)
  if (!fault) return
  throw refusal(fault.overLimit ? 'too_complex' : 'invalid_input', {
    field,
    message: `${field}: This is not a usable JSON Schema: ${fault.words}`,
  })
}
