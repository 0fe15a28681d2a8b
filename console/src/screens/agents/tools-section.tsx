import { type ReactNode, useState } from 'react'
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

type ItemListProps<Item> = {
  legend: string
  /** What one item is called: of "Add …". */
  thing: string
  items: readonly Item[]
  nameOf: (item: Item) => string
  isDisabled: boolean
  onRemove: (item: Item) => void
  /** What is shown beside the name. */
  children: (item: Item) => ReactNode
  /** Changes an item, or adds one. */
  dialog: (item: Item | undefined, close: () => void) => ReactNode
}

/** A list of named items, each with a dialog of its own. */
const ItemList = <Item,>(props: ItemListProps<Item>) => {
  const { legend, thing, items, nameOf, isDisabled, onRemove, children, dialog } = props
  const [edited, setEdited] = useState<{ item: Item | undefined }>()
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>{legend}</legend>
      <ul className={styles.list}>
        {items.map((item) => (
          <li key={nameOf(item)} className={styles.item}>
            <span className="row">
              <code>{nameOf(item)}</code>
              {children(item)}
            </span>
            <Button kind="quiet" isDisabled={isDisabled} onPress={() => setEdited({ item })}>
              Change
            </Button>
            <IconButton
              icon="close"
              label={`Remove ${nameOf(item)}`}
              isDisabled={isDisabled}
              onPress={() => onRemove(item)}
            />
          </li>
        ))}
        <li>
          <Button
            icon="plus"
            isDisabled={isDisabled}
            onPress={() => setEdited({ item: undefined })}
          >
            Add {thing}
          </Button>
        </li>
      </ul>
      {edited && dialog(edited.item, () => setEdited(undefined))}
    </fieldset>
  )
}

/** The items with one in the place of another, or at the end. */
const withItem = <Item,>(items: readonly Item[], former: Item | undefined, item: Item): Item[] =>
  former ? items.map((each) => (each === former ? item : each)) : [...items, item]

type ToolsProps = {
  tools: readonly Tool[]
  isDisabled: boolean
  onChange: (tools: Tool[]) => void
}

const Calls = ({ tools, isDisabled, onChange }: ToolsProps) => (
  <ItemList
    legend="HTTP calls"
    thing="HTTP call"
    items={tools.filter(isCall)}
    nameOf={toolNameOf}
    isDisabled={isDisabled}
    onRemove={(tool) => onChange(withTool(tools, toolNameOf(tool), undefined))}
    dialog={(former, close) => (
      <CallDialog
        tool={former}
        otherNames={tools.filter((each) => each !== former).map(toolNameOf)}
        onClose={close}
        onSave={(tool) => {
          onChange(withTool(tools, toolNameOf(former ?? tool), tool))
          close()
        }}
      />
    )}
  >
    {(tool) => (
      <>
        {typeof tool !== 'string' && (
          <span className="soft small truncate">
            {String(tool.method)} {String(tool.url)}
          </span>
        )}
        {needsApproval(tool) && <Status status="waiting" label="Needs approval" />}
      </>
    )}
  </ItemList>
)

type ServersProps = {
  servers: readonly Server[]
  isDisabled: boolean
  onChange: (servers: Server[]) => void
}

const unknownStatus = { state: 'unknown', last_error: null, checked_at: null } as const

const stateLabels = { ok: 'Reachable', failing: 'Failing', unknown: 'Not checked yet' } as const
const stateTones = { ok: 'good', failing: 'bad', unknown: 'neutral' } as const

const Servers = ({ servers, isDisabled, onChange }: ServersProps) => (
  <ItemList
    legend="MCP servers"
    thing="MCP server"
    items={servers}
    nameOf={({ name }) => name}
    isDisabled={isDisabled}
    onRemove={(server) => onChange(servers.filter((each) => each !== server))}
    dialog={(former, close) => (
      <ServerDialog
        server={former}
        otherNames={servers.filter((each) => each !== former).map(({ name }) => name)}
        onClose={close}
        onSave={(server) => {
          onChange(withItem(servers, former, { ...server, status: unknownStatus } as Server))
          close()
        }}
      />
    )}
  >
    {(server) => (
      <>
        <span className="soft small truncate">{server.url}</span>
        <Status
          status={server.status.state}
          tone={stateTones[server.status.state]}
          label={stateLabels[server.status.state]}
        />
        {needsApproval(server) && <Status status="waiting" label="Needs approval" />}
        {server.status.last_error && <span className="bad small">{server.status.last_error}</span>}
      </>
    )}
  </ItemList>
)

type CredentialsProps = {
  credentials: readonly Credential[]
  isDisabled: boolean
  onChange: (credentials: Credential[]) => void
}

const Credentials = ({ credentials, isDisabled, onChange }: CredentialsProps) => (
  <ItemList
    legend="Texts for credentials on the connect page"
    thing="credential"
    items={credentials}
    nameOf={({ name }) => name}
    isDisabled={isDisabled}
    onRemove={(credential) => onChange(credentials.filter((each) => each !== credential))}
    dialog={(former, close) => (
      <CredentialDialog
        credential={former}
        otherNames={credentials.filter((each) => each !== former).map(({ name }) => name)}
        onClose={close}
        onSave={(credential) => {
          onChange(withItem(credentials, former, credential))
          close()
        }}
      />
    )}
  >
    {({ label, description }) => (
      <span className="soft small truncate" dir="auto">
        {label ?? description}
      </span>
    )}
  </ItemList>
)

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
