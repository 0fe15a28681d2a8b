/** The part of autocannon (which has no types of its own) that is used here. */
declare module 'autocannon' {
  export type Request = {
    method: 'GET' | 'POST'
    path: string
    headers: Record<string, string>
    body?: string
  }
  type Client = { setRequests(requests: readonly Request[]): void }
  type Options = {
    url: string
    connections: number
    /** Seconds. */
    duration: number
    setupClient(client: Client): void
  }
  type Result = {
    duration: number
    errors: number
    non2xx: number
    '2xx': number
    /** Milliseconds. */
    latency: { p50: number; p99: number }
  }
  const autocannon: (options: Options) => Promise<Result>

  // biome-ignore lint/style/noDefaultExport: that is how it is exported
  export { autocannon as default }
}
