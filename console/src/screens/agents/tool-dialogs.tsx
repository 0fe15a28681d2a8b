import { type ReactNode, useState } from 'react'
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

type DraftUses<Draft, Result> = {
  initial: Draft
  isNew: boolean
  faultsOf: (draft: Draft) => Faults
  resultOf: (draft: Draft) => Result
  onSave: (result: Result) => void
}

/** A draft that is saved once it has no faults. `visible`: not those of a new one, before that. */
const useDraft = <Draft, Result>(uses: DraftUses<Draft, Result>) => {
  const { initial, isNew, faultsOf, resultOf, onSave } = uses
  const [draft, setDraft] = useState(initial)
  const [isTouched, setTouched] = useState(!isNew)
  const faults = faultsOf(draft)
  const visible: Faults = isTouched ? faults : {}
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const save = () => {
    setTouched(true)
    if (Object.keys(faults).length === 0) onSave(resultOf(draft))
  }
  return { draft, faults, visible, change, save }
}

type DraftDialogProps = {
  thing: string
  isNew: boolean
  onClose: () => void
  onSave: () => void
  children: ReactNode
}

const DraftDialog = ({ thing, isNew, onClose, onSave, children }: DraftDialogProps) => (
  <Dialog
    isOpen
    onOpenChange={onClose}
    title={`${isNew ? 'Add' : 'Change'} ${thing}`}
    wide
    actions={
      <>
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" onPress={onSave}>
          {isNew ? 'Add' : 'Apply'}
        </Button>
      </>
    }
  >
    {children}
  </Dialog>
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
  const isNew = tool === undefined
  const { draft, faults, visible, change, save } = useDraft({
    initial: tool ? callDraftOf(tool) : emptyCall,
    isNew,
    faultsOf: (draft: CallDraft) => callFaultsOf(draft, otherNames),
    resultOf: callOf,
    onSave,
  })
  return (
    <DraftDialog thing="HTTP call" isNew={isNew} onClose={onClose} onSave={save}>
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
    </DraftDialog>
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
  const isNew = server === undefined
  const { draft, faults, visible, change, save } = useDraft({
    initial: server ? serverDraftOf(server) : emptyServer,
    isNew,
    faultsOf: (draft: ServerDraft) => serverFaultsOf(draft, otherNames),
    resultOf: serverOf,
    onSave,
  })
  return (
    <DraftDialog thing="MCP server" isNew={isNew} onClose={onClose} onSave={save}>
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
    </DraftDialog>
  )
}

type CredentialDialogProps = {
  credential: Credential | undefined
  otherNames: readonly string[]
  onClose: () => void
  onSave: (credential: Credential) => void
}

/** What people read of a credential when they connect it. */
export const CredentialDialog = ({
  credential,
  otherNames,
  onClose,
  onSave,
}: CredentialDialogProps) => {
  const isNew = credential === undefined
  const { draft, faults, visible, change, save } = useDraft({
    initial: credentialDraftOf(credential),
    isNew,
    faultsOf: (draft: CredentialDraft) => credentialFaultsOf(draft, otherNames),
    resultOf: credentialOf,
    onSave,
  })
  return (
    <DraftDialog thing="credential" isNew={isNew} onClose={onClose} onSave={save}>
      <TextField
        label="Name"
        mono
        autoFocus
        placeholder="SHOP_TOKEN"
        description="As headers name it: {{credential:SHOP_TOKEN}}."
        value={draft.name}
        onChange={(name) => change({ name })}
        error={draft.name === '' ? visible.name : faults.name}
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
    </DraftDialog>
  )
}
