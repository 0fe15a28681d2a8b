/** Another process has taken the run over: this one stops, and stores nothing more of it. */
export class RunLost extends Error {
  override readonly name = 'RunLost'
  constructor(runId: string) {
    super(`run ${runId} is another process's now, or has ended`)
  }
}
