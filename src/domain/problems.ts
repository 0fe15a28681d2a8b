/**
 * The shapes of error bodies (docs/contract/errors.md#shapes):
 * - detail `{detail}` · error `{error:{message,type,code,param?}}` · flat `{error:code,message}`
 * - list `{detail:[{loc,msg,type}]}` · fields `{detail:{field:[…]}}` · rag `{detail:{error:{…}}}`
 */
export type Shape = 'detail' | 'error' | 'flat' | 'list' | 'fields' | 'rag'

/**
 * Every way a request can be refused: HTTP status, OpenAI-style `type`, body shape, words. The
 * shape `route` is that of the route group.
 */
type Entry = {
  status: number
  shape: Shape | 'route'
  type: string
  message: string
}

const invalid = 'invalid_request_error'

export const problems = {
  https_required: { status: 403, shape: 'error', type: invalid, message: 'HTTPS is required' },
  missing_api_key: {
    status: 401,
    shape: 'detail',
    type: 'authentication_error',
    message: 'API key required: include it in the X-API-Key header',
  },
  invalid_api_key: {
    status: 401,
    shape: 'detail',
    type: 'authentication_error',
    message: 'Invalid or expired API key',
  },
  organization_access_denied: {
    status: 403,
    shape: 'route',
    type: 'permission_error',
    message: 'The API key has no access to this organization',
  },
  rate_limit_exceeded: {
    status: 429,
    shape: 'flat',
    type: 'rate_limit_error',
    message: 'Rate limit exceeded',
  },
  insufficient_scopes: {
    status: 403,
    shape: 'flat',
    type: 'permission_error',
    message: 'The API key lacks a required scope',
  },
  role_required: {
    status: 403,
    shape: 'route',
    type: 'permission_error',
    message: 'This needs an owner or admin of the organization',
  },
  user_key_required: {
    status: 403,
    shape: 'route',
    type: 'permission_error',
    message: 'This needs a user key, not an organization key',
  },
  platform_only: {
    status: 403,
    shape: 'route',
    type: 'permission_error',
    message: 'This needs the platform key',
  },
  missing_required_field: {
    status: 400,
    shape: 'route',
    type: invalid,
    message: 'A required field is missing',
  },
  invalid_input: { status: 400, shape: 'route', type: invalid, message: 'The body is invalid' },
  invalid_body: { status: 400, shape: 'list', type: invalid, message: 'The body is invalid' },
  invalid_query: { status: 400, shape: 'fields', type: invalid, message: 'The query is invalid' },
  invalid_filter: { status: 400, shape: 'detail', type: invalid, message: 'Unknown filter value' },
  invalid_json: {
    status: 400,
    shape: 'route',
    type: invalid,
    message: 'The body is not valid JSON',
  },
  payload_too_large: {
    status: 413,
    shape: 'route',
    type: invalid,
    message: 'The request body is larger than 10 MB',
  },
  unsupported_media_type: {
    status: 415,
    shape: 'route',
    type: invalid,
    message: 'The body must be JSON: send Content-Type: application/json',
  },
  delegation_not_allowed: {
    status: 403,
    shape: 'error',
    type: 'permission_error',
    message: 'The API key may not act on behalf of this user',
  },
  user_not_found: {
    status: 404,
    shape: 'error',
    type: invalid,
    message: 'The organization has no such user',
  },
  invalid_email: {
    status: 422,
    shape: 'list',
    type: invalid,
    message: 'The email address is invalid',
  },
  account_not_provisionable: {
    status: 409,
    shape: 'route',
    type: 'conflict_error',
    message: 'This address has an account of its own, whose owner has to join by invitation',
  },
  not_provisioned: {
    status: 403,
    shape: 'route',
    type: 'permission_error',
    message: 'The organization did not provision this user',
  },
  nothing_to_connect: {
    status: 400,
    shape: 'route',
    type: invalid,
    message: 'The agent and those below it need no credentials of the user',
  },
  connect_link_not_found: {
    status: 404,
    shape: 'route',
    type: invalid,
    message: 'The link is unknown or has expired',
  },
  no_subscription: {
    status: 403,
    shape: 'error',
    type: 'subscription_required',
    message: 'An active Basic or Pro subscription is required',
  },
  invalid_plan: {
    status: 403,
    shape: 'error',
    type: 'invalid_subscription_plan',
    message: 'The current plan does not include the API',
  },
  insufficient_credits: {
    status: 402,
    shape: 'error',
    type: 'insufficient_credits',
    message: 'Not enough credits',
  },
  session_not_found: {
    status: 404,
    shape: 'detail',
    type: invalid,
    message: 'Session not found or access denied',
  },
  message_not_found: {
    status: 404,
    shape: 'detail',
    type: invalid,
    message: 'The session has no such message',
  },
  session_busy: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'Too many turns of this session are waiting; try again when one has ended',
  },
  stream_not_found: {
    status: 404,
    shape: 'detail',
    type: invalid,
    message: 'The session has no turn that is running or ended in the last 10 minutes',
  },
  credential_not_found: {
    status: 404,
    shape: 'detail',
    type: invalid,
    message: 'The user has no credential of this name',
  },
  agent_not_found: { status: 404, shape: 'error', type: invalid, message: 'Agent not found' },
  invalid_agent_type: {
    status: 400,
    shape: 'error',
    type: invalid,
    message: 'Only agents of type LLM_AGENT can be invoked directly',
  },
  unknown_sub_agent: {
    status: 400,
    shape: 'error',
    type: invalid,
    message: 'The organization has no such agent',
  },
  agent_cycle: {
    status: 400,
    shape: 'error',
    type: invalid,
    message: 'An agent cannot run itself',
  },
  agent_depth: {
    status: 400,
    shape: 'error',
    type: invalid,
    message: 'Too many agents would run one below the other',
  },
  invalid_tool: { status: 400, shape: 'error', type: invalid, message: 'A tool is invalid' },
  agent_name_taken: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'The sub-agents of one agent have different names',
  },
  agent_in_use: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'Other agents run this agent',
  },
  agent_limit_reached: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'An organization has at most 1,000 agents',
  },
  orchestrator_required: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'The orchestrator stays an active LLM agent',
  },
  agent_inactive: { status: 400, shape: 'error', type: invalid, message: 'Agent is not active' },
  datastore_not_found: {
    status: 404,
    shape: 'rag',
    type: 'not_found',
    message: 'DataStore not found',
  },
  datastore_exists: {
    status: 409,
    shape: 'rag',
    type: 'conflict_error',
    message: 'A DataStore with this display name already exists',
  },
  datastore_in_use: {
    status: 409,
    shape: 'rag',
    type: 'conflict_error',
    message: 'The DataStore is in use',
  },
  upload_not_found: {
    status: 404,
    shape: 'rag',
    type: 'not_found',
    message: 'Upload not found',
  },
  file_not_found: {
    status: 500,
    shape: 'rag',
    type: 'internal_error',
    message: 'The DataStore has no such file',
  },
  unsupported_file_type: {
    status: 400,
    shape: 'rag',
    type: 'validation_error',
    message: 'The file type is not supported',
  },
  file_too_large: {
    status: 400,
    shape: 'rag',
    type: 'validation_error',
    message: 'The file is larger than 10 MB',
  },
  invalid_base64: {
    status: 400,
    shape: 'rag',
    type: 'validation_error',
    message: 'The content is not valid base64',
  },
  idempotency_key_reused: {
    status: 409,
    shape: 'route',
    type: 'conflict_error',
    message: 'This idempotency key was used with another body',
  },
  malformed_request: {
    status: 400,
    shape: 'error',
    type: invalid,
    message: 'The request is not valid HTTP',
  },
  request_timeout: {
    status: 408,
    shape: 'error',
    type: invalid,
    message: 'The request did not arrive in time',
  },
  headers_too_large: {
    status: 431,
    shape: 'error',
    type: invalid,
    message: 'The address and headers are larger than 16 KiB',
  },
  content_not_found: { status: 404, shape: 'detail', type: invalid, message: 'Content not found' },
  content_not_failed: {
    status: 400,
    shape: 'detail',
    type: invalid,
    message: 'Cannot retry: only failed content can be retried',
  },
  max_retries_reached: {
    status: 400,
    shape: 'detail',
    type: invalid,
    message: 'Maximum retries reached',
  },
  file_link_invalid: {
    status: 404,
    shape: 'detail',
    type: invalid,
    message: 'The link is unknown or has expired',
  },
  range_not_satisfiable: {
    status: 416,
    shape: 'detail',
    type: invalid,
    message: 'The file has no such range',
  },
  not_found: { status: 404, shape: 'error', type: invalid, message: 'No such route' },
  upgrade_required: {
    status: 426,
    shape: 'error',
    type: invalid,
    message: 'This path speaks WebSocket: ask for an upgrade to it',
  },
  not_available: {
    status: 501,
    shape: 'route',
    type: 'server_error',
    message: 'This server does not offer that',
  },
  method_not_allowed: {
    status: 405,
    shape: 'error',
    type: invalid,
    message: 'This path does not take that method',
  },
  internal_error: {
    status: 500,
    shape: 'route',
    type: 'server_error',
    message: 'Something went wrong on our side',
  },
  orchestrator_error: {
    status: 500,
    shape: 'error',
    type: 'server_error',
    message: 'The agents could not answer',
  },
  llm_service_unavailable: {
    status: 503,
    shape: 'error',
    type: 'server_error',
    message: 'The model provider is unavailable',
  },
  llm_service_timeout: {
    status: 504,
    shape: 'error',
    type: 'server_error',
    message: 'The model provider did not answer in time',
  },
  service_unavailable: {
    status: 503,
    shape: 'route',
    type: 'server_error',
    message: 'The service cannot take this request right now',
  },
  organization_not_found: {
    status: 404,
    shape: 'error',
    type: invalid,
    message: 'Organization not found',
  },
  member_not_found: { status: 404, shape: 'error', type: invalid, message: 'Member not found' },
  member_exists: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'This person is a member already',
  },
  member_pending: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'This person has not signed in yet',
  },
  owner_required: {
    status: 403,
    shape: 'error',
    type: 'permission_error',
    message: 'Only an owner decides about owners',
  },
  identity_conflict: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'The account is linked to another identity of this provider',
  },
  scope_not_allowed: {
    status: 403,
    shape: 'error',
    type: 'permission_error',
    message: 'Only an owner or admin gives a key this scope',
  },
  not_own_user_key: {
    status: 403,
    shape: 'error',
    type: 'permission_error',
    message: 'A user key is made by its own user, or by the platform',
  },
  last_owner: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'An organization keeps at least one owner',
  },
  tile_not_found: {
    status: 404,
    shape: 'error',
    type: invalid,
    message: 'The history has no such tile, or not yet',
  },
  projection_not_found: {
    status: 404,
    shape: 'error',
    type: invalid,
    message: 'There is no such projection',
  },
  projects_elsewhere: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'Another node projects: ask that one',
  },
  read_model_not_found: {
    status: 404,
    shape: 'error',
    type: invalid,
    message: 'There is no such read model of an organization',
  },
  state_too_large: {
    status: 422,
    shape: 'error',
    type: invalid,
    message: 'The read model has more documents than are replayed for one answer',
  },
  key_not_found: { status: 404, shape: 'error', type: invalid, message: 'API key not found' },
  key_limit_reached: {
    status: 409,
    shape: 'error',
    type: 'conflict_error',
    message: 'A user has at most 5 user keys',
  },
} as const satisfies Record<string, Entry>

export type ProblemCode = keyof typeof problems

/** Whose key was refused, for the record only: never told to the client. */
type Refused = { organizationId: string; keyId: string | null; userId: string | null }

/** A refusal. `extra` holds the documented fields beside message, type and code. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly extra: Readonly<Record<string, unknown>>
  readonly by: Refused | undefined

  constructor(code: ProblemCode, extra: Readonly<Record<string, unknown>> = {}, by?: Refused) {
    super(typeof extra.message === 'string' ? extra.message : problems[code].message)
    this.code = code
    this.extra = extra
    this.by = by
  }
}

/** A `message` in `extra` replaces the table's words. */
export const problem = (
  code: ProblemCode,
  extra?: Readonly<Record<string, unknown>>,
  by?: Refused,
) => new Problem(code, extra, by)
