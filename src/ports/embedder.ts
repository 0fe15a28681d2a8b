/** Texts as vectors: those that mean the same point the same way. */
export type Embedder = {
  /** `provider/model`: vectors of two models cannot be compared. */
  name: string
  /**
   * One vector for each text, in their order, all of one dimension; `withinMs` bounds the wait.
   * @throws ModelUnavailable, ModelTimeout, ModelFault
   */
  embed(texts: readonly string[], withinMs?: number): Promise<readonly Float32Array[]>
}
