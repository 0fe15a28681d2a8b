import { useNavigate } from '@tanstack/react-router'
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from 'react-aria-components'
import { classNames } from '../components/class-names.ts'
import dialogs from '../components/dialog.module.css'
import fields from '../components/fields.module.css'
import { Icon, type IconName } from '../components/icon.tsx'
import { ScrollRegion } from '../components/scroll-region.tsx'
import { useSession } from '../session/session.ts'
import { Keys } from './keys.tsx'
import { screensFor } from './navigation.ts'
import styles from './palette.module.css'
import { setTheme } from './theme.ts'

type Command = { id: string; label: string; icon: IconName; keys?: string; run: () => void }

const idPattern = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i

type PaletteProps = { onClose: () => void; onShortcuts: () => void }

/** Screens and commands by name, and a run by its id. */
export const Palette = ({ onClose, onShortcuts }: PaletteProps) => {
  const { can, signOut } = useSession()
  const navigate = useNavigate()
  const { contains } = useFilter({ sensitivity: 'base' })
  const screens = screensFor(can).map(
    ({ to, label, icon, key }): Command => ({
      id: to,
      label,
      icon,
      keys: `g ${key}`,
      run: () => void navigate({ to }),
    }),
  )
  const commands: Command[] = [
    { id: 'light', label: 'Use light colors', icon: 'sun', run: () => setTheme('light') },
    { id: 'dark', label: 'Use dark colors', icon: 'moon', run: () => setTheme('dark') },
    {
      id: 'system',
      label: 'Use the colors of the system',
      icon: 'system',
      run: () => setTheme('system'),
    },
    {
      id: 'shortcuts',
      label: 'Show keyboard shortcuts',
      icon: 'keyboard',
      keys: '?',
      run: onShortcuts,
    },
    {
      id: 'reference',
      label: 'Open the API reference',
      icon: 'external',
      run: () => window.open('/docs', '_blank', 'noopener'),
    },
    { id: 'sign-out', label: 'Sign out', icon: 'sign-out', run: () => void signOut() },
  ]
  const groups = [
    { name: 'Go to', items: screens },
    { name: 'Commands', items: commands },
  ]
  const openRun = (text: string) => {
    const runId = text.trim()
    if (!idPattern.test(runId) || !can('admin:read')) return
    onClose()
    void navigate({ to: '/runs/$runId', params: { runId } })
  }
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={classNames(dialogs.scrim, dialogs.top)}
    >
      <Modal className={dialogs.modal ?? ''}>
        <Dialog aria-label="Search and commands" className={styles.dialog ?? ''}>
          <Autocomplete filter={contains}>
            <div className={styles.search}>
              <SearchField
                aria-label="Search and commands"
                autoFocus
                className={fields.search ?? ''}
                onSubmit={openRun}
              >
                <Icon name="search" />
                <Input
                  placeholder="A screen, a command, or the id of a run"
                  className={fields.input ?? ''}
                />
              </SearchField>
            </div>
            <ScrollRegion className={styles.scroll} label="Results">
              <Menu
                className={styles.list ?? ''}
                renderEmptyState={() => (
                  <div className={styles.empty}>
                    No command has this name. Enter opens the run with this id.
                  </div>
                )}
              >
                {groups.map(({ name, items }) => (
                  <MenuSection key={name} id={name}>
                    <Header className={styles.heading}>{name}</Header>
                    {items.map(({ id, label, icon, keys, run }) => (
                      <MenuItem
                        key={id}
                        id={id}
                        textValue={label}
                        className={styles.item ?? ''}
                        onAction={() => {
                          onClose()
                          run()
                        }}
                      >
                        <span className="row">
                          <Icon name={icon} />
                          {label}
                        </span>
                        {keys && <Keys keys={keys} />}
                      </MenuItem>
                    ))}
                  </MenuSection>
                ))}
              </Menu>
            </ScrollRegion>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
