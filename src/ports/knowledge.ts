/** A place in a document that answers a query. */
export type Passage = {
  upload_id: string
  filename: string
  /** Its number within the document. */
  chunk: number
  text: string
  /** Where in the file it is, such as `page 3` or `line 12, Leave › Sick leave`. */
  place: string
  score: number
}

/** The documents of an organization. */
export type Knowledge = {
  /** The best passages of these DataStores, best first; never of another organization. */
  search(
    organizationId: string,
    datastoreIds: readonly string[],
    query: string,
    limit: number,
  ): Promise<readonly Passage[]>
}
