import type { TurnCount } from './counting/turn-counts.ts'

/**
 * The most that a chat turn may cost the serving thread, one turn at a time in a new session, with
 * the offline model (docs/performance.md#budget-of-a-turn).
 */
export const turnBudget: Readonly<Record<TurnCount, number>> = {
  bytes: 305_000,
  events: 10,
  logCommits: 2.3,
  logPuts: 12,
  logGets: 1.8,
  viewsCommits: 0.5,
  viewsPuts: 20,
  viewsGets: 3,
  parses: 1.3,
  stringifies: 2.5,
  hashes: 2.6,
  ciphers: 3.2,
  promises: 310,
  subscriptions: 12.5,
  hops: 45,
  timers: 11,
}

/**
 * The same through a provider that answers at once. It adds the call itself, a request and an event
 * stream with their time-outs, and a run of several steps of the event loop. It adds no commit.
 */
export const providerBudget: Readonly<Record<TurnCount, number>> = {
  ...turnBudget,
  bytes: 335_000,
  parses: 25,
  stringifies: 3.5,
  subscriptions: 15,
  hops: 50,
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
