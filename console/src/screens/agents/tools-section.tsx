import { useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Checkbox } from '../../components/fields.tsx'
import { Status } from '../../components/status.tsx'
import type { Draft, Faults } from './agent-draft.ts'
import { type Credential, type Server, type Tool, toolNameOf } from './agent-types.ts'
import styles from './agents.module.css'
import { CallDialog, CredentialDialog, ServerDialog } from './tool-dialogs.tsx'

const builtIn = [
  { id: 'search_knowledge', label: 'Search knowledge' },
  { id: 'remember', label: 'Remember facts about the user' },
  { id: 'recall', label: 'Recall facts about the user' },
  { id: 'generate_content', label: 'Generate images, sounds, videos and 3D models' },
  { id: 'end_call', label: 'End the conversation' },
  { id: 'transfer_call', label: 'Transfer to a human' },
] as const

type BuiltIn = (typeof builtIn)[number]['id']

const isApprovable = (id: BuiltIn): id is 'remember' | 'generate_content' =>
  id === 'remember' || id === 'generate_content'

const isCall = (tool: Tool): boolean => typeof tool !== 'string' && tool.type === 'api_call'

const needsApproval = (tool: Tool | Server): boolean =>
  typeof tool !== 'string' && tool.requires_approval === true

/** The tools with one changed, added at the end, or removed. */
const withTool = (tools: readonly Tool[], name: string, tool: Tool | undefined): Tool[] => {
  const index = tools.findIndex((each) => toolNameOf(each) === name)
  if (tool === undefined) return tools.filter((_, place) => place !== index)
  return index === -1 ? [...tools, tool] : tools.with(index, tool)
}

const BuiltInTools = ({ tools, isDisabled, onChange }: ToolsProps) => (
  <fieldset className={styles.group}>
    <legend className={styles.legend}>Built-in tools</legend>
    <div className={styles.checks}>
      {builtIn.map(({ id, label }) => {
        const tool = tools.find((each) => !isCall(each) && toolNameOf(each) === id)
        return (
          <div key={id} className={styles.list}>
            <Checkbox
              isSelected={tool !== undefined}
              isDisabled={isDisabled}
              onChange={(isSelected) => onChange(withTool(tools, id, isSelected ? id : undefined))}
            >
              {label}
            </Checkbox>
            {tool !== undefined && isApprovable(id) && (
              <div className={styles.nested}>
                <Checkbox
                  isSelected={needsApproval(tool)}
                  isDisabled={isDisabled}
                  onChange={(requires) =>
                    onChange(
                      withTool(tools, id, requires ? { type: id, requires_approval: true } : id),
                    )
                  }
                >
                  <span className="soft">Calls need approval</span>
                </Checkbox>
              </div>
            )}
          </div>
        )
      })}
    </div>
  </fieldset>
)

type ToolsProps = {
  tools: readonly Tool[]
  isDisabled: boolean
  onChange: (tools: Tool[]) => void
}

const Calls = ({ tools, isDisabled, onChange }: ToolsProps) => {
  const [edited, setEdited] = useState<Tool | 'new'>()
  const calls = tools.filter(isCall)
  const editedTool = edited === 'new' ? undefined : edited
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>HTTP calls</legend>
      <ul className={styles.list}>
        {calls.map((tool) => {
          const name = toolNameOf(tool)
          return (
            <li key={name} className={styles.item}>
              <span className="row">
                <code>{name}</code>
                {typeof tool !== 'string' && (
                  <span className="soft small truncate">
                    {String(tool.method)} {String(tool.url)}
                  </span>
                )}
                {needsApproval(tool) && <Status status="waiting" label="Needs approval" />}
              </span>
              <Button kind="quiet" isDisabled={isDisabled} onPress={() => setEdited(tool)}>
                Change
              </Button>
              <IconButton
                icon="close"
                label={`Remove ${name}`}
                isDisabled={isDisabled}
                onPress={() => onChange(withTool(tools, name, undefined))}
              />
            </li>
          )
        })}
        <li>
          <Button icon="plus" isDisabled={isDisabled} onPress={() => setEdited('new')}>
            Add HTTP call
          </Button>
        </li>
      </ul>
      {edited !== undefined && (
        <CallDialog
          tool={editedTool}
          otherNames={tools.filter((each) => each !== editedTool).map(toolNameOf)}
          onClose={() => setEdited(undefined)}
          onSave={(tool) => {
            const former = editedTool && toolNameOf(editedTool)
            onChange(withTool(tools, former ?? toolNameOf(tool), tool))
            setEdited(undefined)
          }}
        />
      )}
    </fieldset>
  )
}

type ServersProps = {
  servers: readonly Server[]
  isDisabled: boolean
  onChange: (servers: Server[]) => void
}

const unknownStatus = { state: 'unknown', last_error: null, checked_at: null } as const

const stateLabels = { ok: 'Reachable', failing: 'Failing', unknown: 'Not checked yet' } as const

const Servers = ({ servers, isDisabled, onChange }: ServersProps) => {
  const [edited, setEdited] = useState<Server | 'new'>()
  const editedServer = edited === 'new' ? undefined : edited
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>MCP servers</legend>
      <ul className={styles.list}>
        {servers.map((server) => (
          <li key={server.name} className={styles.item}>
            <span className="row">
              <code>{server.name}</code>
              <span className="soft small truncate">{server.url}</span>
              <Status
                status={server.status.state}
                tone={
                  server.status.state === 'ok'
                    ? 'good'
                    : server.status.state === 'failing'
                      ? 'bad'
                      : 'neutral'
                }
                label={stateLabels[server.status.state]}
              />
              {needsApproval(server) && <Status status="waiting" label="Needs approval" />}
              {server.status.last_error && (
                <span className="bad small">{server.status.last_error}</span>
              )}
            </span>
            <Button kind="quiet" isDisabled={isDisabled} onPress={() => setEdited(server)}>
              Change
            </Button>
            <IconButton
              icon="close"
              label={`Remove ${server.name}`}
              isDisabled={isDisabled}
              onPress={() => onChange(servers.filter((each) => each !== server))}
            />
          </li>
        ))}
        <li>
          <Button icon="plus" isDisabled={isDisabled} onPress={() => setEdited('new')}>
            Add MCP server
          </Button>
        </li>
      </ul>
      {edited !== undefined && (
        <ServerDialog
          server={editedServer}
          otherNames={servers.filter((each) => each !== editedServer).map(({ name }) => name)}
          onClose={() => setEdited(undefined)}
          onSave={(server) => {
            const saved: Server = { ...server, status: unknownStatus } as Server
            onChange(
              editedServer
                ? servers.map((each) => (each === editedServer ? saved : each))
                : [...servers, saved],
            )
            setEdited(undefined)
          }}
        />
      )}
    </fieldset>
  )
}

type CredentialsProps = {
  credentials: readonly Credential[]
  isDisabled: boolean
  onChange: (credentials: Credential[]) => void
}

const Credentials = ({ credentials, isDisabled, onChange }: CredentialsProps) => {
  const [edited, setEdited] = useState<Credential | 'new'>()
  const editedCredential = edited === 'new' ? undefined : edited
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>Texts for credentials on the connect page</legend>
      <ul className={styles.list}>
        {credentials.map((credential) => (
          <li key={credential.name} className={styles.item}>
            <span className="row">
              <code>{credential.name}</code>
              <span className="soft small truncate" dir="auto">
                {credential.label ?? credential.description}
              </span>
            </span>
            <Button kind="quiet" isDisabled={isDisabled} onPress={() => setEdited(credential)}>
              Change
            </Button>
            <IconButton
              icon="close"
              label={`Remove ${credential.name}`}
              isDisabled={isDisabled}
              onPress={() => onChange(credentials.filter((each) => each !== credential))}
            />
          </li>
        ))}
        <li>
          <Button icon="plus" isDisabled={isDisabled} onPress={() => setEdited('new')}>
            Add credential
          </Button>
        </li>
      </ul>
      {edited !== undefined && (
        <CredentialDialog
          credential={editedCredential}
          otherNames={credentials
            .filter((each) => each !== editedCredential)
            .map(({ name }) => name)}
          onClose={() => setEdited(undefined)}
          onSave={(credential) => {
            onChange(
              editedCredential
                ? credentials.map((each) => (each === editedCredential ? credential : each))
                : [...credentials, credential],
            )
            setEdited(undefined)
          }}
        />
      )}
    </fieldset>
  )
}

type ToolsSectionProps = {
  draft: Draft
  faults: Faults
  isDisabled: boolean
  onChange: (change: Partial<Draft>) => void
}

/** What an agent can call: built-in tools, HTTP calls and MCP servers; and their credentials. */
export const ToolsSection = ({ draft, faults, isDisabled, onChange }: ToolsSectionProps) => (
  <section className={`card ${styles.section}`} aria-labelledby="tools">
    <h2 id="tools">Tools</h2>
    <BuiltInTools
      tools={draft.tools}
      isDisabled={isDisabled}
      onChange={(tools) => onChange({ tools })}
    />
    <Calls tools={draft.tools} isDisabled={isDisabled} onChange={(tools) => onChange({ tools })} />
    <Servers
      servers={draft.mcp_servers}
      isDisabled={isDisabled}
      onChange={(mcp_servers) => onChange({ mcp_servers })}
    />
    <Credentials
      credentials={draft.credentials}
      isDisabled={isDisabled}
      onChange={(credentials) => onChange({ credentials })}
    />
    {faults.tools && (
      <p role="alert" className={styles.error}>
        {faults.tools}
      </p>
    )}
    {faults.mcp_servers && (
      <p role="alert" className={styles.error}>
        {faults.mcp_servers}
      </p>
    )}
    {faults.credentials && (
      <p role="alert" className={styles.error}>
        {faults.credentials}
      </p>
    )}
  </section>
)
