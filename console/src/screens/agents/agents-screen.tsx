import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Agent, agentsQuery } from '../../api/agents.ts'
import { organizationQuery } from '../../api/organization.ts'
import { buttonClass } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { type TreeNode, treeOf } from './agent-tree.ts'
import styles from './agents.module.css'
import { listedAgentsQuery, typeLabels } from './agents-queries.ts'

const description = 'Who runs whom: the orchestrator answers, or hands a message to its agents.'

const toolsWords = ({ tools, mcp_servers }: Agent): string => {
  const count = tools.length + mcp_servers.length
  return count === 0 ? '' : `${count} tool${count === 1 ? '' : 's'}`
}

const Branch = ({ node, orchestratorId }: { node: TreeNode<Agent>; orchestratorId?: string }) => {
  const { agent, children, isRepeated } = node
  return (
    <li>
      <div
        className={styles.node}
        title={[agent.name, agent.description].filter(Boolean).join('\n')}
      >
        <span className={styles.nodeMain}>
          <Link
            to="/agents/$agentId"
            params={{ agentId: agent.agent_id }}
            className={styles.nodeName}
            dir="auto"
          >
            {agent.name}
          </Link>
          {agent.agent_id === orchestratorId && agent.name !== 'Orchestrator' && (
            <Status status="root" label="Orchestrator" />
          )}
          {!agent.is_active && <Status status="inactive" />}
          {isRepeated && <span className="soft small">its agents are listed above</span>}
          {agent.description && (
            <span className={classNames('soft small truncate', styles.nodeWords)} dir="auto">
              {agent.description}
            </span>
          )}
        </span>
        <span className="soft small">{typeLabels[agent.agent_type]}</span>
        <span className={classNames('soft small truncate', styles.nodeModel)}>
          {agent.agent_type === 'LLM_AGENT' ? (agent.model ?? 'Default model') : ''}
        </span>
        <span className={classNames('soft small', styles.nodeTools)}>{toolsWords(agent)}</span>
        <span className={classNames('soft small', styles.nodeTime)}>
          <Time at={agent.updated_at} />
        </span>
      </div>
      {children.length > 0 && (
        <ul className={styles.branch}>
          {children.map((child, index) => (
            <Branch
              // biome-ignore lint/suspicious/noArrayIndexKey: an agent may run another twice
              key={`${child.agent.agent_id} ${index}`}
              node={child}
              {...(orchestratorId ? { orchestratorId } : {})}
            />
          ))}
        </ul>
      )}
    </li>
  )
}

const Team = ({ agents }: { agents: readonly Agent[] }) => {
  const { organizationId } = useSession()
  const { data } = useQuery(organizationQuery(organizationId))
  const orchestratorId = data?.orchestrator_agent_id
  const roots = useMemo(() => treeOf(agents, orchestratorId), [agents, orchestratorId])
  const [first, ...rest] = roots
  const isTeam = first?.agent.agent_id === orchestratorId
  const others = isTeam ? rest : roots
  return (
    <>
      {first && isTeam && orchestratorId && (
        <ul className={styles.tree} aria-label="Team">
          <Branch node={first} orchestratorId={orchestratorId} />
        </ul>
      )}
      {others.length > 0 && (
        <section className={styles.others} aria-labelledby="others">
          <h2 id="others">Not run by another agent</h2>
          <ul className={styles.tree}>
            {others.map((node) => (
              <Branch key={node.agent.agent_id} node={node} />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

const ManagedAgents = () => {
  const { can, organizationId } = useSession()
  const query = useQuery(agentsQuery(organizationId))
  return (
    <Page
      title="Agents"
      description={description}
      actions={
        can('admin:write') && (
          <Link to="/agents/new" className={buttonClass('primary')}>
            <Icon name="plus" />
            New agent
          </Link>
        )
      }
    >
      <QueryView query={query} skeleton={<Skeleton lines={6} height="2.5rem" />}>
        {(agents) =>
          agents.length === 0 ? (
            <EmptyState icon="agents" title="There are no agents" />
          ) : (
            <Team agents={agents} />
          )
        }
      </QueryView>
    </Page>
  )
}

type Listed = NonNullable<
  Awaited<ReturnType<NonNullable<typeof listedAgentsQuery.queryFn>>>
>['agents'][number]

const columns: Column<Listed>[] = [
  { id: 'name', header: 'Name', meta: { main: true }, cell: ({ row }) => row.original.name },
  { id: 'type', header: 'Type', cell: ({ row }) => typeLabels[row.original.agent_type] },
  {
    id: 'model',
    header: 'Model',
    meta: { priority: 'medium' },
    cell: ({ row }) => row.original.model ?? '–',
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row }) => <Status status={row.original.is_active ? 'active' : 'inactive'} />,
  },
]

/** Without the right to manage: what the public list says. */
const ListedAgents = () => {
  const { data, error, refetch } = useQuery(listedAgentsQuery)
  return (
    <Page title="Agents" description="Settings are for owners and admins of the organization.">
      <DataTable
        label="Agents"
        columns={columns}
        rows={data?.agents}
        rowId={({ agent_id }) => agent_id}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        empty={<EmptyState icon="agents" title="There are no agents" />}
      />
    </Page>
  )
}

/** The agents of the organization as a tree. */
export const AgentsScreen = () => {
  const { can, isManager } = useSession()
  if (can('admin:read') && isManager) return <ManagedAgents />
  if (can('agents:list')) return <ListedAgents />
  return (
    <Page title="Agents">
      <ForbiddenState scope="agents:list" what="agents" />
    </Page>
  )
}
