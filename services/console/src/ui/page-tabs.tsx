import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useParameters } from './use-parameter.js'

interface PageTab {
  readonly id: string
  readonly label: string
  readonly content: ReactNode
}

/** Parts of a page, of which one is shown. The URL names it; the default is the first. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  const [parameters, set] = useParameters()
  const first = tabs[0]?.id ?? ''
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
          <div className="page-tab">{content}</div>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
