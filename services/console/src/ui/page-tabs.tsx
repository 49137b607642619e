import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useParameters } from './use-parameter.js'

interface PageTab {
  readonly id: string
  readonly label: string
  readonly content: ReactNode
}

/** Parts of a page of which one is shown, as the URL names it; the first one unless it does. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  const [parameters, set] = useParameters()
  const first = tabs[0]?.id ?? ''
  const chosen = tabs.find(({ id }) => id === parameters.get('tab'))?.id ?? first
  return (
    <Tabs
      value={chosen}
      // The search and the sorting of a table are in the URL as well, and belong to the tab that is left.
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
