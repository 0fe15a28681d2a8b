/** What a call over HTTP reached, and the names of the credentials that it was given. */
export type Reached = { host: string; httpStatus?: number; credentials?: readonly string[] }

/** A `read` may be made again. */
export type ToolEffect = 'read' | 'write'
