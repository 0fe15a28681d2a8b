import type { Position } from '../domain/event.ts'
import type { WaitForPosition } from '../ports/views.ts'

type Uses = {
  waitForPosition: WaitForPosition
  /** The last position of the log. */
  head(): Promise<Position>
}

/** A client that sends one request after another reads what it wrote before. */
export const readYourWrites = ({ waitForPosition, head }: Uses) => ({
  /** The same command; it resolves when the read models show its events. */
  command:
    <Input extends unknown[], Result extends { position: Position }>(
      command: (...input: Input) => Promise<Result>,
    ) =>
    async (...input: Input): Promise<Result> => {
      const result = await command(...input)
      await waitForPosition(result.position)
      return result
    },
  /** The same query; it reads once the read models show all events of the log. */
  query:
    <Input extends unknown[], Answer>(query: (...input: Input) => Promise<Answer>) =>
    async (...input: Input): Promise<Answer> => {
      await waitForPosition(await head())
      return query(...input)
    },
})
export type ReadYourWrites = ReturnType<typeof readYourWrites>
