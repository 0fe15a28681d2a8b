/** Why a value does not fit its schema, or could not be checked. */
export type Misfit = { misfit: string }

/**
 * Why a schema cannot be used, in words for its author; `overLimit`: it is too large, or too costly
 * to compile.
 */
export type SchemaFault = { words: string; overLimit: boolean }

/** JSON Schemas that users write, and values against them. Neither may stop the process. */
export type JsonSchemas = {
  /**
   * Why a schema cannot be used: it is none, refers to other documents, or takes too much time or
   * memory to compile. Undefined when it can be used.
   */
  faultOf(
    organizationId: string,
    schema: Readonly<Record<string, unknown>>,
  ): Promise<SchemaFault | undefined>
  /** Undefined when the value fits. */
  misfitOf(
    organizationId: string,
    schema: Readonly<Record<string, unknown>>,
    value: unknown,
  ): Promise<Misfit | undefined>
  /** The same for a text that is to be JSON. */
  textMisfitOf(
    organizationId: string,
    schema: Readonly<Record<string, unknown>>,
    text: string,
  ): Promise<Misfit | undefined>
}
