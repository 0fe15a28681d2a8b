import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useBlocker, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { Agent } from '../../api/agents.ts'
import { answerOf, api } from '../../api/client.ts'
import { organizationQuery } from '../../api/organization.ts'
import { Button, buttonClass, IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/code-block.tsx'
import { ConfirmDialog, Dialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { Menu } from '../../components/menu.tsx'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import { ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useSession } from '../../session/session.ts'
import { changesOf, type Draft, draftOf } from './agent-draft.ts'
import { AgentForm } from './agent-form.tsx'
import { AgentHistory } from './agent-history.tsx'
import { agentQuery } from './agents-queries.ts'
import type { BodyOf } from './body-of.ts'

const route = getRouteApi('/agents/$agentId')

const agentPath = '/api/admin/organizations/{organization_id}/agents/{agent_id}'
type AgentChange = BodyOf<typeof agentPath, 'patch'>

/** Changes an agent, and shows the answer everywhere. */
const useChangeAgent = (agentId: string) => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  return async (change: AgentChange): Promise<Agent> => {
    const params = { path: { organization_id: organizationId, agent_id: agentId } }
    const agent = await answerOf(api.PATCH(agentPath, { params, body: change }))
    client.setQueryData(agentQuery(organizationId, agentId).queryKey, agent)
    for (const name of ['agents', 'agent-history', 'active-agents', 'listed-agents'])
      void client.invalidateQueries({ queryKey: [name] })
    return agent
  }
}

/** Asks before unsaved settings are lost. */
const LeaveGuard = ({ isUnsaved }: { isUnsaved: () => boolean }) => {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved() && current.pathname !== next.pathname,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
  return (
    <Dialog
      isOpen={status === 'blocked'}
      onOpenChange={() => reset?.()}
      title="Leave without saving?"
      isAlert
      actions={
        <>
          <Button onPress={() => reset?.()}>Stay</Button>
          <Button kind="danger" onPress={() => proceed?.()}>
            Leave
          </Button>
        </>
      }
    >
      <p className="soft">The changes of this agent are lost.</p>
    </Dialog>
  )
}

const summaryOf = (count: number): string =>
  count === 0 ? 'No unsaved changes' : `${count} unsaved change${count === 1 ? '' : 's'}`

const Details = ({ agent }: { agent: Agent }) => {
  const { agent_id: agentId } = agent
  const { tab = 'settings', change } = route.useSearch()
  const navigate = route.useNavigate()
  const { can, isManager, organizationId } = useSession()
  const { data: organization } = useQuery(organizationQuery(organizationId))
  const changeAgent = useChangeAgent(agentId)
  const unsaved = useRef(false)
  const initial = draftOf(agent)
  const countOf = (draft: Draft) => Object.keys(changesOf(initial, draft)).length
  const save = async (draft: Draft) => {
    await changeAgent(changesOf(initial, draft) as AgentChange)
    unsaved.current = false
    notify(`${draft.name.trim()} saved`)
  }
  return (
    <>
      <LeaveGuard isUnsaved={() => unsaved.current} />
      <Tabs
        label={agent.name}
        selected={tab}
        onSelect={(id) =>
          void navigate({ search: { tab: id === 'settings' ? undefined : id }, replace: true })
        }
        tabs={[
          {
            id: 'settings',
            label: 'Settings',
            content: (
              <AgentForm
                key={agent.updated_at}
                agent={agent}
                initial={initial}
                isOrchestrator={organization?.orchestrator_agent_id === agentId}
                isDisabled={!can('admin:write') || !isManager}
                action="Save"
                summary={(draft) => summaryOf(countOf(draft))}
                isChanged={(draft) => countOf(draft) > 0}
                onDraft={(isChanged) => {
                  unsaved.current = isChanged
                }}
                onSave={save}
                triedOf={
                  can('admin:write') && can('agents:invoke') && isManager
                    ? (draft) => ({
                        agent_id: agentId,
                        agent: changesOf(initial, draft) as AgentChange,
                      })
                    : undefined
                }
              />
            ),
          },
          {
            id: 'history',
            label: 'History',
            content: (
              <AgentHistory
                agent={agent}
                opened={change}
                onOpen={(position) =>
                  void navigate({ search: { tab: 'history', change: position }, replace: true })
                }
                {...(can('admin:write') && isManager
                  ? { onRestore: (settings) => changeAgent(settings as AgentChange) }
                  : {})}
              />
            ),
          },
        ]}
      />
    </>
  )
}

const Actions = ({ agent }: { agent: Agent }) => {
  const { can, isManager, organizationId } = useSession()
  const { data: organization } = useQuery(organizationQuery(organizationId))
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const isOrchestrator = organization?.orchestrator_agent_id === agent.agent_id
  const remove = async () => {
    await api.DELETE(agentPath, {
      params: { path: { organization_id: organizationId, agent_id: agent.agent_id } },
    })
    void client.invalidateQueries({ queryKey: ['agents', organizationId] })
    notify(`${agent.name} deleted`)
    await navigate({ to: '/agents' })
  }
  return (
    <>
      {agent.is_active && can('orchestrator:invoke') && (
        <Link
          to="/playground"
          search={isOrchestrator ? {} : { agent: agent.agent_id }}
          className={buttonClass('default')}
        >
          <Icon name="playground" />
          Open in playground
        </Link>
      )}
      {can('admin:write') && isManager && (
        <Menu
          label="Agent"
          trigger={<IconButton icon="more" label="More actions" />}
          actions={[
            {
              id: 'delete',
              label: 'Delete…',
              icon: 'trash',
              isDangerous: true,
              isDisabled: isOrchestrator,
              onAction: () => setDeleting(true),
            },
          ]}
        />
      )}
      <ConfirmDialog
        isOpen={isDeleting}
        onOpenChange={setDeleting}
        title={`Delete ${agent.name}?`}
        action="Delete"
        typed={agent.name}
        onConfirm={remove}
      >
        Turns that run keep it until they end. Its history stays, but it cannot be restored.
      </ConfirmDialog>
    </>
  )
}

/** One agent: its settings and the history of their changes. */
export const AgentScreen = () => {
  const { agentId } = route.useParams()
  const { can, isManager, organizationId } = useSession()
  const isAllowed = can('admin:read') && isManager
  const query = useQuery({ ...agentQuery(organizationId, agentId), enabled: isAllowed })
  const back = <Link to="/agents">Agents</Link>
  if (!isAllowed)
    return (
      <Page title="Agent" back={back} narrow>
        <ForbiddenState scope="admin:read" what="the settings of agents" />
      </Page>
    )
  return (
    <Page
      title={query.data?.name ?? 'Agent'}
      back={back}
      narrow
      description={
        <span className="row">
          <code>{agentId}</code>
          <CopyButton text={agentId} what="Id" />
        </span>
      }
      actions={query.data && <Actions agent={query.data} />}
    >
      <QueryView query={query} skeleton={<Skeleton lines={5} height="6rem" />}>
        {(agent) => <Details key={agent.agent_id} agent={agent} />}
      </QueryView>
    </Page>
  )
}
