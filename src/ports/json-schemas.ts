/** Why a value does not fit its schema, or could not be checked. */
export type Misfit = { misfit: string }

/** JSON Schemas that users write, and values against them. Neither may stop the process. */
export type JsonSchemas = {
  /**
   * Why a schema cannot be used, in words for who wrote it: it is none, refers to other documents, or
   * takes too much time or memory to compile. Undefined when it can be used.
   */
  faultOf(
    organizationId: string,
    schema: Readonly<Record<string, unknown>>,
  ): Promise<string | undefined>
  /** Undefined when the value fits. */
  misfitOf(
    organizationId: string,
    schema: Readonly<Record<string, unknown>>,
    value: unknown,
  ): Promise<Misfit | undefined>
}
