/** A line for each item of the batches. */
export async function* linesOf(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const batch of batches)
    if (batch.length > 0) yield `${batch.map((value) => JSON.stringify(value)).join('\n')}\n`
}
