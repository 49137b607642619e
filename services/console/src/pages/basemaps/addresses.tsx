import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Tabs } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { CopyBlock } from '../../ui/copy.js'
import { CLIENTS, snippet } from './snippets.js'

/** Ready to paste, for the clients that people use. */
export function Addresses({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const version = basemap.versions.find((v) => v.version === basemap.default_version) ?? basemap.versions.at(-1)
  if (version === undefined) return null
  const described = { code: basemap.code, name: basemap.name, template: basemap.url_template, version }
  return (
    <Tabs defaultValue={CLIENTS[0]} keepMounted={false}>
      <Tabs.List>
        {CLIENTS.map((client) => (
          <Tabs.Tab key={client} value={client}>
            {client}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {CLIENTS.map((client) => (
        <Tabs.Panel key={client} value={client} pt="sm">
          <CopyBlock text={snippet(client, described)} what={t.basemaps.addressOf(client)} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
