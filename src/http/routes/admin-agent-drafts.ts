import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AgentDraft, CheckDraft } from '../../../commands/check-draft.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import type { RequireCallable } from '../checks/agent-tools.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { agentValues } from '../checks/json-text.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { unfitAgent } from '../errors/agent-refusals.ts'
import { refusals } from '../errors/responses.ts'
import { agentTurnRefusals } from '../errors/turn-refusals.ts'
import { agentCompletion, answerAgentTurn } from '../streams/answer-agent-turn.ts'
import { agentChange, configurationOf } from '../wire/agents.ts'
import { userContent } from '../wire/content-parts.ts'
import { givenId, orAbsent, pathId, sessionId } from '../wire/fields.ts'
import { turnJson } from '../wire/json-line.ts'

type Uses = {
  checkDraft: CheckDraft
  requireCallable: RequireCallable
  beginTurn: BeginTurn
  /** The model of agents that name none. */
  defaultModel: string
}

const body = z
  .object({
    agent_id: orAbsent(givenId).describe('The agent that the settings change; absent: a new one'),
    agent: agentChange,
    message: userContent,
    session_id: orAbsent(sessionId),
    stream: z.boolean().nullish(),
  })
  .refine(({ agent_id, agent }) => agent_id !== undefined || agent.name !== undefined, {
    path: ['agent', 'name'],
    error: 'A new agent needs a name',
  })

const draftOf = ({ agent_id: agentId, agent }: z.infer<typeof body>): AgentDraft => {
  const change = configurationOf(agent)
  const { name = '' } = agent
  return agentId === undefined
    ? { kind: 'new', settings: { ...change, name } }
    : { kind: 'change', agentId, change }
}

/** Trying an agent before it is saved (docs/contract/admin-api.md#drafts). */
export const adminAgentDraftRoutes =
  ({ checkDraft, requireCallable, beginTurn, defaultModel }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.setReplySerializer(turnJson)
    http.post(
      '/organizations/:organization_id/agent-drafts/completions',
      {
        config: {
          scopes: ['admin:write', 'agents:invoke'],
          managers: true,
          streams: 'asked',
          mostValues: agentValues,
        },
        schema: {
          tags: ['admin: agents'],
          summary: 'Run an agent with settings that are not saved, streaming or not',
          params: z.object({ organization_id: pathId }),
          body,
          response: {
            200: agentCompletion,
            ...refusals(
              'admin',
              ...agentTurnRefusals,
              'role_required',
              'organization_not_found',
              ...unfitAgent,
              'orchestrator_required',
              'agent_limit_reached',
            ),
          },
        },
      },
      async (request, reply) => {
        const call = inOrganization(request, request.params.organization_id)
        const { message, session_id, stream, agent: settings } = request.body
        await requireCallable(settings, call)
        const agent = await checkDraft(draftOf(request.body), call)
        const isStream = stream === true
        const turn = await beginTurn(
          request,
          {
            kind: 'message',
            ...message,
            system: [],
            history: [],
            session: { kind: 'id', sessionId: session_id },
            agent: { kind: 'draft', agent },
            delivery: isStream ? 'streamed' : 'whole',
            hidden: session_id === undefined ? true : undefined,
            onBehalfOf: undefined,
          },
          repetitionOf(request, reply, { early: isStream }),
        )
        request.answersFor = turn.sessionId
        request.forgetBody()
        const { agentId, name: agentName } = agent
        const named = { agentId, agentName, model: agent.model ?? defaultModel }
        return answerAgentTurn(request, reply, { turn, named, isStream })
      },
    )
  }
