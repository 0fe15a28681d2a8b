import { isRefusalCode, type RefusalCode } from '../../domain/refusal-words.ts'

/**
 * The shapes of error bodies (docs/contract/errors.md#shapes):
 * - detail `{detail}` · error `{error:{message,type,code,param?}}` · flat `{error:code,message}`
 * - list `{detail:[{loc,msg,type}]}` · fields `{detail:{field:[…]}}` · rag `{detail:{error:{…}}}`
 */
export type Shape = 'detail' | 'error' | 'flat' | 'list' | 'fields' | 'rag'

/**
 * How a refusal is answered: HTTP status, OpenAI-style `type`, and the shape of the body, where
 * `route` is the shape of the route's group.
 */
type RefusalAnswer = { status: number; shape: Shape | 'route'; type: string }

const invalid = 'invalid_request_error'

export const refusalTable = {
  https_required: { status: 403, shape: 'error', type: invalid },
  missing_api_key: { status: 401, shape: 'detail', type: 'authentication_error' },
  invalid_api_key: { status: 401, shape: 'detail', type: 'authentication_error' },
  organization_access_denied: { status: 403, shape: 'route', type: 'permission_error' },
  rate_limit_exceeded: { status: 429, shape: 'flat', type: 'rate_limit_error' },
  insufficient_scopes: { status: 403, shape: 'flat', type: 'permission_error' },
  role_required: { status: 403, shape: 'route', type: 'permission_error' },
  user_key_required: { status: 403, shape: 'route', type: 'permission_error' },
  platform_only: { status: 403, shape: 'route', type: 'permission_error' },
  missing_required_field: { status: 400, shape: 'route', type: invalid },
  invalid_input: { status: 400, shape: 'route', type: invalid },
  invalid_body: { status: 400, shape: 'list', type: invalid },
  invalid_query: { status: 400, shape: 'fields', type: invalid },
  invalid_filter: { status: 400, shape: 'detail', type: invalid },
  invalid_json: { status: 400, shape: 'route', type: invalid },
  too_complex: { status: 400, shape: 'route', type: invalid },
  reserved_name: { status: 400, shape: 'route', type: invalid },
  payload_too_large: { status: 413, shape: 'route', type: invalid },
  unsupported_media_type: { status: 415, shape: 'route', type: invalid },
  delegation_not_allowed: { status: 403, shape: 'error', type: 'permission_error' },
  user_not_found: { status: 404, shape: 'error', type: invalid },
  invalid_email: { status: 422, shape: 'list', type: invalid },
  account_not_provisionable: { status: 409, shape: 'route', type: 'conflict_error' },
  not_provisioned: { status: 403, shape: 'route', type: 'permission_error' },
  nothing_to_connect: { status: 400, shape: 'route', type: invalid },
  connect_link_not_found: { status: 404, shape: 'route', type: invalid },
  no_subscription: { status: 403, shape: 'error', type: 'subscription_required' },
  invalid_plan: { status: 403, shape: 'error', type: 'invalid_subscription_plan' },
  insufficient_credits: { status: 402, shape: 'error', type: 'insufficient_credits' },
  session_not_found: { status: 404, shape: 'detail', type: invalid },
  message_not_found: { status: 404, shape: 'detail', type: invalid },
  session_busy: { status: 409, shape: 'error', type: 'conflict_error' },
  stream_not_found: { status: 404, shape: 'detail', type: invalid },
  credential_not_found: { status: 404, shape: 'detail', type: invalid },
  agent_not_found: { status: 404, shape: 'error', type: invalid },
  invalid_agent_type: { status: 400, shape: 'error', type: invalid },
  unknown_sub_agent: { status: 400, shape: 'error', type: invalid },
  unknown_model: { status: 400, shape: 'error', type: invalid },
  model_not_found: { status: 404, shape: 'error', type: invalid },
  agent_cycle: { status: 400, shape: 'error', type: invalid },
  agent_depth: { status: 400, shape: 'error', type: invalid },
  invalid_tool: { status: 400, shape: 'error', type: invalid },
  agent_name_taken: { status: 409, shape: 'error', type: 'conflict_error' },
  agent_in_use: { status: 409, shape: 'error', type: 'conflict_error' },
  agent_limit_reached: { status: 409, shape: 'error', type: 'conflict_error' },
  orchestrator_required: { status: 409, shape: 'error', type: 'conflict_error' },
  agent_inactive: { status: 400, shape: 'error', type: invalid },
  datastore_not_found: { status: 404, shape: 'rag', type: 'not_found' },
  datastore_exists: { status: 409, shape: 'rag', type: 'conflict_error' },
  datastore_in_use: { status: 409, shape: 'rag', type: 'conflict_error' },
  upload_not_found: { status: 404, shape: 'rag', type: 'not_found' },
  file_not_found: { status: 500, shape: 'rag', type: 'internal_error' },
  unsupported_file_type: { status: 400, shape: 'rag', type: 'validation_error' },
  file_too_large: { status: 400, shape: 'rag', type: 'validation_error' },
  invalid_base64: { status: 400, shape: 'rag', type: 'validation_error' },
  idempotency_key_reused: { status: 409, shape: 'route', type: 'conflict_error' },
  malformed_request: { status: 400, shape: 'error', type: invalid },
  request_timeout: { status: 408, shape: 'error', type: invalid },
  headers_too_large: { status: 431, shape: 'error', type: invalid },
  content_not_found: { status: 404, shape: 'detail', type: invalid },
  content_not_failed: { status: 400, shape: 'detail', type: invalid },
  max_retries_reached: { status: 400, shape: 'detail', type: invalid },
  file_link_invalid: { status: 404, shape: 'detail', type: invalid },
  range_not_satisfiable: { status: 416, shape: 'detail', type: invalid },
  not_found: { status: 404, shape: 'error', type: invalid },
  upgrade_required: { status: 426, shape: 'error', type: invalid },
  not_available: { status: 501, shape: 'route', type: 'server_error' },
  method_not_allowed: { status: 405, shape: 'error', type: invalid },
  internal_error: { status: 500, shape: 'route', type: 'server_error' },
  orchestrator_error: { status: 500, shape: 'error', type: 'server_error' },
  model_misconfigured: { status: 500, shape: 'error', type: 'server_error' },
  context_length_exceeded: { status: 400, shape: 'error', type: invalid },
  llm_service_unavailable: { status: 503, shape: 'error', type: 'server_error' },
  llm_service_timeout: { status: 504, shape: 'error', type: 'server_error' },
  service_unavailable: { status: 503, shape: 'route', type: 'server_error' },
  store_damaged: { status: 503, shape: 'route', type: 'server_error' },
  organization_not_found: { status: 404, shape: 'error', type: invalid },
  member_not_found: { status: 404, shape: 'error', type: invalid },
  member_exists: { status: 409, shape: 'error', type: 'conflict_error' },
  member_pending: { status: 409, shape: 'error', type: 'conflict_error' },
  invitation_not_found: { status: 404, shape: 'error', type: invalid },
  backing_not_allowed: { status: 403, shape: 'error', type: 'permission_error' },
  owner_required: { status: 403, shape: 'error', type: 'permission_error' },
  identity_conflict: { status: 409, shape: 'error', type: 'conflict_error' },
  scope_not_allowed: { status: 403, shape: 'error', type: 'permission_error' },
  not_own_user_key: { status: 403, shape: 'error', type: 'permission_error' },
  last_owner: { status: 409, shape: 'error', type: 'conflict_error' },
  tile_not_found: { status: 404, shape: 'error', type: invalid },
  projection_not_found: { status: 404, shape: 'error', type: invalid },
  projects_elsewhere: { status: 409, shape: 'error', type: 'conflict_error' },
  read_model_not_found: { status: 404, shape: 'error', type: invalid },
  state_too_large: { status: 422, shape: 'error', type: invalid },
  key_not_found: { status: 404, shape: 'error', type: invalid },
  rotation_under_way: { status: 409, shape: 'error', type: 'conflict_error' },
  new_master_key_required: { status: 400, shape: 'error', type: invalid },
  key_limit_reached: { status: 409, shape: 'error', type: 'conflict_error' },
} as const satisfies Record<RefusalCode, RefusalAnswer>

/** The `type` of a code; an unknown code has the type of server errors. */
export const typeOf = (code: string): string =>
  isRefusalCode(code) ? refusalTable[code].type : 'server_error'
