import { z } from 'zod'
import { agents } from '../projections/agents.ts'
import { apiKeys } from '../projections/api-keys.ts'
import { connectLinks } from '../projections/connect-links.ts'
import { contents } from '../projections/contents.ts'
import { credentials } from '../projections/credentials.ts'
import { datastores } from '../projections/datastores.ts'
import { type Durations, quantile } from '../projections/durations.ts'
import { members } from '../projections/members.ts'
import { memories } from '../projections/memories.ts'
import { messages } from '../projections/messages.ts'
import { organizations } from '../projections/organizations.ts'
import type { AnyProjection } from '../projections/projection.ts'
import { runs } from '../projections/runs.ts'
import { sessions } from '../projections/sessions.ts'
import { uploads } from '../projections/uploads.ts'
import { type UsageView, usage } from '../projections/usage.ts'
import type { Document } from '../src/ports/views.ts'

/** A read model as an organization's auditors and analysts see it. */
export type ReadModel = {
  projection: AnyProjection
  /** Of a document as it is shown. */
  schema: z.ZodType
  /** What is never shown is left out, what is worked out is added; sealed texts are opened after. */
  shown(document: Document): Document
}

const text = z.string()
const count = z.int()
const at = z.string().describe('ISO 8601')
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullable()
const flag = z.literal(true).optional()
const list = z.array(text)
const anything = z.looseObject({})
const erased = z.object({ erased: z.literal(true) })
const withheld = z.object({ withheld: z.literal(true) })
/** A sealed text, opened. */
const opened = z.union([text, erased])
const micro = z.int().describe('Micro-credits')
const organization_id = text

const asIs = (document: Document): Document => document

const readModel = (
  projection: AnyProjection,
  shape: z.ZodRawShape,
  shown: ReadModel['shown'] = asIs,
): [string, ReadModel] => [projection.name, { projection, schema: z.object(shape), shown }]

const withoutHash = ({ hash: _, ...rest }: Document): Document => rest

/** What an answer about usage says of one or many documents' counts. */
export const usageFigures = (charge: number, durations: Durations) => ({
  credits: charge / 1_000_000,
  duration_p50_ms: quantile(durations, 0.5),
  duration_p95_ms: quantile(durations, 0.95),
})

const withFigures = (document: Document): Document => {
  const { charge, durations } = document as UsageView
  return { ...document, ...usageFigures(charge, durations) }
}

/** Read models whose documents belong to one organization each. Users and accounts belong to none. */
export const readModels: ReadonlyMap<string, ReadModel> = new Map([
  readModel(agents, {
    agent_id: text,
    name: text,
    agent_type: text,
    description: text,
    is_active: z.boolean(),
    model: orNull(text),
    has_tools: z.boolean(),
    has_mcp: z.boolean(),
    organization_id,
    instruction: text,
    tools: z.array(z.union([text, anything])),
    mcp_servers: z.array(anything),
    sub_agents: list,
    datastore_ids: list,
    temperature: orNull(z.number()),
    max_tokens: orNull(count),
    output_key: orNull(text),
    max_iterations: orNull(count),
    exit_condition: orNull(text),
    created_at: at,
    updated_at: at,
  }),
  readModel(
    apiKeys,
    {
      key_id: text,
      organization_id,
      user_id: text,
      type: text,
      key_hint: text,
      name: text,
      description: text,
      scopes: list,
      rate_limit_minute: count,
      rate_limit_hour: count,
      provisioning: z.boolean(),
      expires_at: orNull(at),
      created_at: at,
      last_used_at: orNull(at),
      request_count: count,
    },
    withoutHash,
  ),
  readModel(connectLinks, {
    link_id: text,
    organization_id,
    user_id: text,
    agent_id: text,
    return_url: text,
    created_at: at,
    expires_at: at,
  }),
  readModel(contents, {
    id: text,
    organization_id,
    user_id: text,
    key_id: orNull(text),
    payer_id: text,
    requested: text,
    content_type: orNull(text),
    status: text,
    open: flag,
    prompt: opened,
    input: opened,
    provider_version: text,
    provider_prediction_id: orNull(text),
    output_url: orNull(text),
    hash: orNull(text),
    media_type: orNull(text),
    error_message: orNull(text),
    processing_time_ms: orNull(z.number()),
    charge: micro,
    reserved: micro,
    retry_count: count,
    max_retries: count,
    created_at: at,
    started_at: orNull(at),
    completed_at: orNull(at),
  }),
  readModel(credentials, {
    name: text,
    organization_id,
    user_id: text,
    value: withheld,
    created_at: at,
    updated_at: at,
  }),
  readModel(datastores, {
    datastore_id: text,
    organization_id,
    display_name: text,
    description: orNull(text),
    document_count: count,
    created_at: at,
    is_active: z.boolean(),
    version: count,
    shown: flag,
    deleting: flag,
  }),
  readModel(members, {
    organization_id,
    user_id: text,
    role: text,
    status: text,
    provisioned: flag,
    created_at: at,
  }),
  readModel(memories, {
    memory_id: text,
    organization_id,
    user_id: text,
    text: opened,
    created_at: at,
  }),
  readModel(messages, {
    event_id: text,
    event_type: text,
    content: opened,
    agent: orNull(text),
    created_at: at,
    visibility: text,
    organization_id,
    session_id: text,
    run_id: text,
    position: count,
  }),
  readModel(organizations, {
    organization_id,
    name: text,
    owner_user_id: orNull(text),
    owner_user_ids: list,
    orchestrator_agent_id: text,
    created_at: at,
    updated_at: at,
  }),
  readModel(runs, {
    run_id: text,
    session_id: text,
    message_id: text,
    organization_id,
    key_id: orNull(text),
    payer_id: text,
    agent_id: text.optional(),
    agent: text,
    node: text,
    status: text,
    open: flag,
    fingerprint: text.optional(),
    started_at: at,
    ended_at: orNull(at),
    error_code: orNull(text),
    finish_reason: orNull(text),
    tool_calls: z.array(z.object({ id: text, name: text })),
    answer_id: orNull(text),
    prompt_tokens: count,
    completion_tokens: count,
    charge: micro,
  }),
  readModel(sessions, {
    session_id: text,
    organization_id,
    user_id: text,
    key_id: orNull(text),
    hidden: z.boolean(),
    created_at: at,
    last_update_time: at,
    is_active: z.boolean(),
    message_count: count,
    run: orNull(z.object({ run_id: text, state: text, started_at: at, current_agent: text })),
  }),
  readModel(uploads, {
    upload_id: text,
    organization_id,
    datastore_id: text,
    filename: text,
    file_size: count,
    file_type: text,
    status: text,
    uploaded_at: at,
    indexed_at: orNull(at),
    error_message: orNull(text),
    blob: text,
    chunks_blob: orNull(text),
    vectors_blob: text.optional(),
    vectors_model: text.optional(),
    unembedded: flag,
    shown: flag,
    open: flag,
  }),
  readModel(
    usage,
    {
      organization_id,
      day: text.describe('UTC'),
      agent_id: orNull(text),
      user_id: orNull(text),
      key_id: orNull(text),
      runs: count,
      completed: count,
      failed: count,
      cancelled: count,
      timed_out: count,
      prompt_tokens: count,
      completion_tokens: count,
      charge: micro,
      durations: z
        .record(text, count)
        .describe('Counts of completed runs: bucket n is from 1.1^(n-1) to 1.1^n ms; add to merge'),
      credits: z.number(),
      duration_p50_ms: orNull(count),
      duration_p95_ms: orNull(count),
    },
    withFigures,
  ),
])
