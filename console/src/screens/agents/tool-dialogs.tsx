import { useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox, Select, TextField } from '../../components/fields.tsx'
import type { Credential, Server, Tool } from './agent-types.ts'
import styles from './agents.module.css'
import {
  type CallDraft,
  type CareDraft,
  type CredentialDraft,
  callDraftOf,
  callFaultsOf,
  callOf,
  credentialDraftOf,
  credentialFaultsOf,
  credentialOf,
  emptyCall,
  emptyServer,
  type HeaderDraft,
  methods,
  type ServerDraft,
  serverDraftOf,
  serverFaultsOf,
  serverOf,
} from './tool-draft.ts'

type Faults = Readonly<Record<string, string>>

const HeadersField = ({
  headers,
  error,
  onChange,
}: {
  headers: readonly HeaderDraft[]
  error: string | undefined
  onChange: (headers: HeaderDraft[]) => void
}) => (
  <fieldset className={styles.group}>
    <legend className={styles.legend}>Headers</legend>
    <div className={styles.headers}>
      {headers.map((header, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
        <div key={index} className={styles.headerRow}>
          <TextField
            label={`Name of header ${index + 1}`}
            hideLabel
            placeholder="Authorization"
            value={header.name}
            onChange={(name) => onChange(headers.with(index, { ...header, name }))}
          />
          <TextField
            label={`Value of header ${index + 1}`}
            hideLabel
            placeholder="Bearer {{credential:NAME}}"
            value={header.value}
            onChange={(value) => onChange(headers.with(index, { ...header, value }))}
          />
          <IconButton
            icon="close"
            label={`Remove header ${index + 1}`}
            onPress={() => onChange(headers.filter((_, place) => place !== index))}
          />
        </div>
      ))}
      <div>
        <Button icon="plus" onPress={() => onChange([...headers, { name: '', value: '' }])}>
          Add header
        </Button>
      </div>
    </div>
    <p className="soft small">
      {'{{credential:NAME}}'} stands for the calling user’s own credential. All other text is
      visible to everybody who may read agents.
    </p>
    {error && <p className={styles.error}>{error}</p>}
  </fieldset>
)

const CareFields = ({
  draft,
  faults,
  defaultEffect,
  onChange,
}: {
  draft: CareDraft
  defaultEffect: string
  faults: Faults
  onChange: (change: Partial<CareDraft>) => void
}) => (
  <>
    <Checkbox
      isSelected={draft.requires_approval}
      onChange={(requires_approval) => onChange({ requires_approval })}
    >
      Calls need approval
    </Checkbox>
    {draft.requires_approval && (
      <div className={styles.pair}>
        <Select
          label="Who decides"
          options={[
            { id: 'user', label: 'The user of the conversation' },
            { id: 'admin', label: 'An owner or admin' },
          ]}
          value={draft.approver || 'user'}
          onChange={(approver) => onChange({ approver })}
        />
        <TextField
          label="Denied after (seconds)"
          placeholder="86400"
          inputMode="numeric"
          value={draft.approval_ttl}
          onChange={(approval_ttl) => onChange({ approval_ttl })}
          error={faults.approval_ttl}
        />
      </div>
    )}
    <div className={styles.pair}>
      <Select
        label="Effect"
        options={[
          { id: 'default', label: defaultEffect },
          { id: 'read', label: 'Reads: may be repeated' },
          { id: 'write', label: 'Writes' },
        ]}
        value={draft.effect || 'default'}
        onChange={(id) => onChange({ effect: id === 'default' ? '' : id })}
      />
      <Select
        label="If the outcome is unknown"
        options={[
          { id: 'tell', label: 'Tell the model' },
          { id: 'ask', label: 'Ask somebody' },
        ]}
        value={draft.on_unknown || 'tell'}
        onChange={(on_unknown) => onChange({ on_unknown })}
      />
    </div>
  </>
)

type CallDialogProps = {
  /** Undefined: a new one. */
  tool: Tool | undefined
  /** Names of the agent's other tools. */
  otherNames: readonly string[]
  onClose: () => void
  onSave: (tool: Tool) => void
}

/** An HTTP call as a tool. */
export const CallDialog = ({ tool, otherNames, onClose, onSave }: CallDialogProps) => {
  const [draft, setDraft] = useState<CallDraft>(tool ? callDraftOf(tool) : emptyCall)
  const [isTouched, setTouched] = useState(tool !== undefined)
  const faults = callFaultsOf(draft, otherNames)
  const visible: Faults = isTouched ? faults : {}
  const change = (part: Partial<CallDraft>) => setDraft({ ...draft, ...part })
  const save = () => {
    setTouched(true)
    if (Object.keys(faults).length > 0) return
    onSave(callOf(draft))
  }
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={tool ? 'Change HTTP call' : 'Add HTTP call'}
      wide
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" onPress={save}>
            {tool ? 'Apply' : 'Add'}
          </Button>
        </>
      }
    >
      <div className={styles.pair}>
        <TextField
          label="Name"
          mono
          autoFocus
          placeholder="get_order"
          value={draft.name}
          onChange={(name) => change({ name })}
          error={draft.name === '' ? visible.name : faults.name}
        />
        <Select
          label="Method"
          options={methods.map((id) => ({ id, label: id }))}
          value={draft.method}
          onChange={(method) => change({ method })}
        />
      </div>
      <TextField
        label="Description"
        description="The model chooses the tool by it."
        value={draft.description}
        onChange={(description) => change({ description })}
        error={faults.description}
      />
      <TextField
        label="Address"
        mono
        description="{name} stands for the argument of that name."
        value={draft.url}
        onChange={(url) => change({ url })}
        error={draft.url === emptyCall.url ? visible.url : faults.url}
      />
      <HeadersField
        headers={draft.headers}
        error={faults.headers}
        onChange={(headers) => change({ headers })}
      />
      <TextField
        label="Arguments (JSON Schema)"
        mono
        rows={6}
        value={draft.parameters}
        onChange={(parameters) => change({ parameters })}
        error={faults.parameters}
      />
      <CareFields draft={draft} faults={faults} defaultEffect="By the method" onChange={change} />
      <TextField
        label="Header for an idempotency key"
        description="Each call carries a key of its own there, the same when it is repeated."
        value={draft.idempotency_header}
        onChange={(idempotency_header) => change({ idempotency_header })}
        error={faults.idempotency_header}
      />
    </Dialog>
  )
}

type ServerDialogProps = {
  server: Server | undefined
  otherNames: readonly string[]
  onClose: () => void
  onSave: (server: Omit<Server, 'status'>) => void
}

/** An MCP server, whose tools the agent may call. */
export const ServerDialog = ({ server, otherNames, onClose, onSave }: ServerDialogProps) => {
  const [draft, setDraft] = useState<ServerDraft>(server ? serverDraftOf(server) : emptyServer)
  const [isTouched, setTouched] = useState(server !== undefined)
  const faults = serverFaultsOf(draft, otherNames)
  const visible: Faults = isTouched ? faults : {}
  const change = (part: Partial<ServerDraft>) => setDraft({ ...draft, ...part })
  const save = () => {
    setTouched(true)
    if (Object.keys(faults).length > 0) return
    onSave(serverOf(draft))
  }
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={server ? 'Change MCP server' : 'Add MCP server'}
      wide
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" onPress={save}>
            {server ? 'Apply' : 'Add'}
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        mono
        autoFocus
        placeholder="shop"
        value={draft.name}
        onChange={(name) => change({ name })}
        error={draft.name === '' ? visible.name : faults.name}
      />
      <TextField
        label="Address"
        mono
        description="Of its Streamable HTTP endpoint."
        value={draft.url}
        onChange={(url) => change({ url })}
        error={draft.url === emptyServer.url ? visible.url : faults.url}
      />
      <HeadersField
        headers={draft.headers}
        error={faults.headers}
        onChange={(headers) => change({ headers })}
      />
      <CareFields
        draft={draft}
        faults={faults}
        defaultEffect="By the server’s hints"
        onChange={change}
      />
      <TextField
        label="Settings of single tools (JSON)"
        mono
        rows={3}
        placeholder='{"place_order": {"requires_approval": true}}'
        description="By the server’s name of the tool; they win over the settings above."
        value={draft.tools}
        onChange={(tools) => change({ tools })}
        error={faults.tools}
      />
    </Dialog>
  )
}

type CredentialDialogProps = {
  credential: Credential | undefined
  otherNames: readonly string[]
  onClose: () => void
  onSave: (credential: Credential) => void
}

/** What people read of a credential when they connect it. */
export const CredentialDialog = (props: CredentialDialogProps) => {
  const { credential, otherNames, onClose, onSave } = props
  const [draft, setDraft] = useState<CredentialDraft>(credentialDraftOf(credential))
  const [isTouched, setTouched] = useState(credential !== undefined)
  const faults = credentialFaultsOf(draft, otherNames)
  const change = (part: Partial<CredentialDraft>) => setDraft({ ...draft, ...part })
  const save = () => {
    setTouched(true)
    if (Object.keys(faults).length > 0) return
    onSave(credentialOf(draft))
  }
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={credential ? 'Change credential' : 'Add credential'}
      wide
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" onPress={save}>
            {credential ? 'Apply' : 'Add'}
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        mono
        autoFocus
        placeholder="SHOP_TOKEN"
        description="As headers name it: {{credential:SHOP_TOKEN}}."
        value={draft.name}
        onChange={(name) => change({ name })}
        error={draft.name === '' && !isTouched ? undefined : faults.name}
      />
      <TextField
        label="Label"
        placeholder="Shop token"
        value={draft.label}
        onChange={(label) => change({ label })}
        error={faults.label}
      />
      <TextField
        label="Description"
        rows={2}
        value={draft.description}
        onChange={(description) => change({ description })}
        error={faults.description}
      />
      <TextField
        label="Help address"
        mono
        description="Where people find the value."
        value={draft.help_url}
        onChange={(help_url) => change({ help_url })}
        error={faults.help_url}
      />
    </Dialog>
  )
}
