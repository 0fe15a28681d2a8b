/**
 * The lease that shows that a process is alive: while it holds the lease, no other ends its runs.
 */
export const nodeLease = (node: string): string => `node:${node}`
