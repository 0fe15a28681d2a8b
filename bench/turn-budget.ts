import type { TurnCount } from './counting/turn-counts.ts'

/**
 * The most that a chat turn may cost the thread that serves, one turn at a time, in a session of its
 * own, with the offline model (docs/performance.md#a-budget-a-turn).
 */
export const turnBudget: Readonly<Record<TurnCount, number>> = {
  bytes: 400_000,
  events: 10,
  logCommits: 2.3,
  logPuts: 11,
  logGets: 1.2,
  viewsCommits: 0.5,
  viewsPuts: 24,
  viewsGets: 6,
  parses: 1.2,
  stringifies: 8,
  hashes: 1.2,
  ciphers: 3.2,
  promises: 400,
  subscriptions: 16.5,
  hops: 170,
  timers: 20,
}

/** What is counted, in words. */
export const countNames: Readonly<Record<TurnCount, string>> = {
  bytes: 'bytes allocated',
  events: 'events',
  logCommits: 'commits of the log',
  logPuts: 'puts into the log',
  logGets: 'gets from the log',
  viewsCommits: 'commits of the views',
  viewsPuts: 'puts into the views',
  viewsGets: 'gets from the views',
  parses: 'JSON parsed',
  stringifies: 'JSON written',
  hashes: 'hashes',
  ciphers: 'ciphers',
  promises: 'promises',
  subscriptions: 'rxjs subscriptions',
  hops: 'rxjs hops',
  timers: 'timers',
}
