import type { TurnCount } from './counting/turn-counts.ts'

/**
 * The most that a chat turn may cost the thread that serves, one turn at a time, in a session of its
 * own, with the offline model (docs/performance.md#a-budget-a-turn).
 */
export const turnBudget: Readonly<Record<TurnCount, number>> = {
  bytes: 450_000,
  events: 10.5,
  logCommits: 2.5,
  logPuts: 12,
  logGets: 2,
  viewsCommits: 0.5,
  viewsPuts: 30,
  viewsGets: 8,
  parses: 1.5,
  stringifies: 9,
  hashes: 2,
  ciphers: 3.2,
  promises: 430,
  subscriptions: 17,
  hops: 180,
  timers: 22,
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
