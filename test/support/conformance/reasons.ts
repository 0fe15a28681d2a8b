const toolsOnly = 'our server has tools, and neither resources, prompts, completions nor a log'
const textOnly = 'agents answer with text and structured content'
const asksNothing = 'our server asks nothing of its client: no sampling, elicitation or roots'
const noReplay = 'streams cannot be resumed: the answer of a lost call is in its session'
const noSessions = 'no sessions are kept, so that none can end'
const oneSchema = 'every tool takes the same two arguments'

/** Checks that do not apply to our server, by `scenario/check`, and why. */
export const doesNotApply: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:resources|prompts|sep-2164-resource)-|^(?:completion-complete|logging-set-level)\//,
    toolsOnly,
  ],
  [/^tools-call-with-logging\//, toolsOnly],
  [/^caching\/sep-2549-(?:prompts|resources)-/, toolsOnly],
  [/^tools-call-(?:image|audio|embedded-resource|mixed-content)\//, textOnly],
  [/^tools-call-(?:sampling|elicitation)\/|^elicitation-/, asksNothing],
  [/^input-required-result-/, asksNothing],
  [/^server-stateless\/sep-2575-(?:server-rejects-undeclared|missing)-capability/, asksNothing],
  [/^server-sse-polling\//, noReplay],
  [/^server-session-lifecycle\//, noSessions],
  [/^server-stateless\/sep-2575-server-(?:sends|tags|honors)-/, 'no list tells when it changes'],
  [/^json-schema-2020-12\/|^http-custom-header-server-validation\//, oneSchema],
]

/** The scenarios that apply, of each version of the protocol: all their checks pass. */
export const applies: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'dns-rebinding-protection',
    'ping',
    'server-initialize',
    'server-sse-multiple-streams',
    'tools-call-error',
    'tools-call-simple-text',
    'tools-call-with-progress',
    'tools-list',
  ],
  '2026-07-28': [
    'dns-rebinding-protection',
    'http-header-validation',
    'server-sse-multiple-streams',
    'tools-call-error',
    'tools-call-simple-text',
    'tools-call-with-progress',
    'tools-list',
  ],
}

/** Single checks of scenarios that apply in part. */
export const appliesInPart: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [],
  '2026-07-28': [
    'caching/sep-2549-cache-scope-valid',
    'caching/sep-2549-tools-list-caching-hints',
    'caching/sep-2549-ttl-non-negative',
    'server-stateless/sep-2575-http-server-header-mismatch-400',
    'server-stateless/sep-2575-http-server-method-not-found-404',
    'server-stateless/sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless/sep-2575-http-server-unsupported-version-400',
    'server-stateless/sep-2575-server-implements-discover',
    'server-stateless/sep-2575-server-no-log-without-loglevel',
    'server-stateless/sep-2575-server-unsupported-version-error',
  ],
}
