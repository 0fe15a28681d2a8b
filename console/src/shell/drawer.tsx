import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'

type DrawerProps = { onClose: () => void; onPalette: () => void; onShortcuts: () => void }

/** The sidebar of a narrow window, above the screen until a screen is chosen. */
export const Drawer = ({ onClose, ...sidebar }: DrawerProps) => (
  <ModalOverlay
    className={styles.scrim ?? ''}
    isOpen
    isDismissable
    onOpenChange={(isOpen) => !isOpen && onClose()}
  >
    <Modal className={styles.drawer ?? ''}>
      <Dialog aria-label="Menu">
        <Sidebar {...sidebar} onLeave={onClose} />
      </Dialog>
    </Modal>
  </ModalOverlay>
)
