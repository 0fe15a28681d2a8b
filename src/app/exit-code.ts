import { StoreDamaged } from '../ports/event-store.ts'

/** Of a process whose log is damaged: to start it again does not help. */
export const damagedExit = 3

/** The exit code of a process that ends with an error. */
export const exitCodeOf = (error: unknown): number =>
  error instanceof StoreDamaged ? damagedExit : 1
