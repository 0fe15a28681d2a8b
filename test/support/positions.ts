import { type Position, position } from '../../src/domain/event.ts'

/** The position of a number: of a log that a test has made up. */
export const at = (n: number): Position => position.parse(n)
