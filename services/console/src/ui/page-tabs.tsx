import { Tabs } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useFirstPageDrawn } from './first-page.js'
import { useParameters } from './use-parameter.js'

interface PageTab {
  readonly id: string
  readonly label: string
  readonly content: ReactNode
}

interface PageTabsProps {
  readonly label: string
  readonly tabs: readonly PageTab[]
  /** true if they lie below a map: unless the URL names a tab, its content waits until the map is drawn */
  readonly below?: boolean
}

/** Parts of a page, of which one is shown. The URL names it; the default is the first. */
export function PageTabs({ label, tabs, below = false }: PageTabsProps) {
  const [parameters, set] = useParameters()
  const first = tabs[0]?.id ?? ''
  const [isAsked] = useState(() => !below || parameters.get('tab') !== null)
  const isShown = useFirstPageDrawn() || isAsked
  const chosen = tabs.find(({ id }) => id === parameters.get('tab'))?.id ?? first
  return (
    <Tabs
      value={chosen}
      // Search and sorting of a table are in the URL too, and belong to the previous tab.
      onChange={(id) => set({ tab: id === first ? null : id, q: null, sort: null, page: null })}
      keepMounted={false}
    >
      <Tabs.List aria-label={label} className="page-tabs">
        {tabs.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, content }) => (
        <Tabs.Panel key={id} value={id} pt="md">
          <div className="page-tab">{isShown && content}</div>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
