import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import { ForbiddenState } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { changesOf, type Draft, emptyDraft, settingsOf } from './agent-draft.ts'
import { AgentForm } from './agent-form.tsx'
import type { BodyOf } from './body-of.ts'

type NewAgent = BodyOf<'/api/admin/organizations/{organization_id}/agents', 'post'>

/** A new agent; only its name is required. */
export const NewAgentScreen = () => {
  const { can, isManager, organizationId } = useSession()
  const client = useQueryClient()
  const navigate = useNavigate()
  const back = <Link to="/agents">Agents</Link>
  const bodyOf = (draft: Draft) =>
    ({ ...changesOf(emptyDraft, draft), name: settingsOf(draft).name }) as NewAgent
  const create = async (draft: Draft) => {
    const body = bodyOf(draft)
    const agent = await answerOf(
      api.POST('/api/admin/organizations/{organization_id}/agents', {
        params: { path: { organization_id: organizationId } },
        body,
      }),
    )
    await client.invalidateQueries({ queryKey: ['agents', organizationId] })
    notify(`${agent.name} created`)
    await navigate({ to: '/agents/$agentId', params: { agentId: agent.agent_id } })
  }
  return (
    <Page title="New agent" back={back} narrow>
      {can('admin:write') && isManager ? (
        <AgentForm
          agent={undefined}
          initial={emptyDraft}
          action="Create agent"
          summary={() => 'Add it to another agent’s sub-agents to have it run'}
          isChanged={() => true}
          onSave={create}
          triedOf={can('agents:invoke') ? (draft) => ({ agent: bodyOf(draft) }) : undefined}
        />
      ) : (
        <ForbiddenState scope="admin:write" what="this form" />
      )}
    </Page>
  )
}
