import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components'
import styles from './tabs.module.css'

export type TabItem<Id extends string> = { id: Id; label: ReactNode; content: ReactNode }

type TabsProps<Id extends string> = {
  label: string
  tabs: readonly TabItem<Id>[]
  /** From the address, so that a link opens the same tab. */
  selected: Id
  onSelect: (id: Id) => void
}

/** Views of one thing; only the selected one is rendered. */
export function Tabs<Id extends string>({ label, tabs, selected, onSelect }: TabsProps<Id>) {
  return (
    <AriaTabs
      className={styles.tabs ?? ''}
      selectedKey={selected}
      onSelectionChange={(key) => {
        const tab = tabs.find(({ id }) => id === key)
        if (tab) onSelect(tab.id)
      }}
    >
      <TabList aria-label={label} className={styles.list ?? ''}>
        {tabs.map(({ id, label: words }) => (
          <Tab key={id} id={id} className={styles.tab ?? ''}>
            {words}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className={styles.panel ?? ''}>
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
