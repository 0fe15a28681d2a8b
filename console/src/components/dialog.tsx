import { type ReactNode, useState } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { messageOf } from '../api/problem.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'
import { TextField } from './fields.tsx'

type DialogProps = {
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
  title: string
  /** For forms and comparisons. */
  wide?: boolean
  isAlert?: boolean
  children: ReactNode
  /** Buttons at the lower right; the main one is the last. */
  actions?: ReactNode
}

/** A dialog above the page: holds the focus, closes with Escape. */
export const Dialog = ({
  isOpen,
  onOpenChange,
  title,
  wide,
  isAlert,
  children,
  actions,
}: DialogProps) => (
  <ModalOverlay
    isOpen={isOpen}
    onOpenChange={onOpenChange}
    isDismissable={!isAlert}
    className={styles.scrim ?? ''}
  >
    <Modal className={classNames(styles.modal, wide && styles.wide)}>
      <AriaDialog className={styles.dialog ?? ''} role={isAlert ? 'alertdialog' : 'dialog'}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
        {actions && <div className={styles.actions}>{actions}</div>}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

type ConfirmDialogProps = {
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
  /** As a question: "Delete handbook.md?". */
  title: string
  /** What happens, and whether it can be undone. */
  children: ReactNode
  /** The verb of the title: "Delete". */
  action: string
  kind?: 'danger' | 'primary'
  /** To be typed before the action is possible, where nothing can be undone. */
  typed?: string
  /** The dialog closes once it resolves, and shows why it failed otherwise. */
  onConfirm: () => Promise<unknown>
}

/** Asks before an action that destroys something or cannot be undone. */
export const ConfirmDialog = (props: ConfirmDialogProps) => {
  const { isOpen, onOpenChange, title, children, action, kind = 'danger', typed, onConfirm } = props
  const [text, setText] = useState('')
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const change = (open: boolean) => {
    setText('')
    setError(undefined)
    onOpenChange(open)
  }
  const confirm = async () => {
    setPending(true)
    setError(undefined)
    try {
      await onConfirm()
      change(false)
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={change}
      title={title}
      isAlert
      actions={
        <>
          <Button onPress={() => change(false)}>Cancel</Button>
          <Button
            kind={kind}
            isDisabled={isPending || (typed !== undefined && text !== typed)}
            onPress={() => void confirm()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="soft">{children}</div>
      {typed !== undefined && (
        <TextField label={`Type ${typed} to confirm`} value={text} onChange={setText} autoFocus />
      )}
      {error !== undefined && (
        <p role="alert" className="bad">
          {messageOf(error)}
        </p>
      )}
    </Dialog>
  )
}
