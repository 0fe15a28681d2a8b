import { useState, useSyncExternalStore } from 'react'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Checkbox } from '../components/fields.tsx'
import { Keys } from './keys.tsx'
import styles from './palette.module.css'
import { areShortcutsOn, currentShortcuts, setShortcutsOn, watchShortcuts } from './shortcuts.ts'

/** All shortcuts of the present screen, and a switch for those that are single letters. */
export const ShortcutList = ({ onClose }: { onClose: () => void }) => {
  const shortcuts = useSyncExternalStore(watchShortcuts, currentShortcuts)
  const [isOn, setOn] = useState(areShortcutsOn)
  return (
    <Dialog
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title="Keyboard shortcuts"
      actions={<Button onPress={onClose}>Close</Button>}
    >
      <dl className={styles.shortcuts}>
        <div>
          <dt>Search and commands, anywhere</dt>
          <dd>
            <Keys keys="Ctrl K" />
          </dd>
        </div>
        {shortcuts.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
      <Checkbox
        isSelected={isOn}
        onChange={(next) => {
          setShortcutsOn(next)
          setOn(next)
        }}
      >
        Shortcuts of single letters
      </Checkbox>
    </Dialog>
  )
}
