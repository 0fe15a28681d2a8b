/** A command cannot be carried out; the message says what to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly exitCode: number
  /** 1: the command failed; 2: it was used wrongly. */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
