import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { NativeSelect, Stack, Tabs, Text } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../../texts/texts.js'
import { Copyable, CopyBlock } from '../../ui/copy.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Section } from '../../ui/section.js'
import { EarlierBase } from './earlier-base.js'
import { CLIENTS, serviceUrls, snippet } from './snippets.js'

/** Stands for the default version. No version has an empty label. */
const FOLLOWS = ''

export interface AddressesProps {
  readonly basemap: AdminBasemap
  /** the version that URLs name at first; absent: URLs follow the default version */
  readonly pinned?: string
}

/** The URLs of every service, and snippets for clients. URLs follow the default version unless a version is chosen. */
export function Addresses({ basemap, pinned = FOLLOWS }: AddressesProps) {
  const t = useTexts()
  const [chosen, setChosen] = useState(pinned)
  const { code, name, url_template: template, versions, default_version: current } = basemap
  const version =
    versions.find((v) => v.version === (chosen === FOLLOWS ? current : chosen)) ?? versions.find((v) => v.available)
  if (version === undefined) return <Text c="dimmed">{t.maps.noMap}</Text>
  // The basemap's template has the format of the default version.
  const ending = template.slice(0, template.lastIndexOf('.') + 1)
  const described = { code, name, template: ending + version.format, version, pinned: chosen !== FOLLOWS }
  return (
    <Section title={t.basemaps.addresses} quiet>
      <Stack>
        <EarlierBase basemaps={[basemap]} />
        <NativeSelect
          label={t.maps.pin}
          description={t.maps.pinHint}
          maw={360}
          value={chosen}
          data={[
            { value: FOLLOWS, label: t.maps.follows },
            ...versions.map((v) => ({ value: v.version, label: v.version })),
          ]}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <Facts>
          {serviceUrls(described).map(([service, url]) => (
            <Fact key={service} name={t.maps.service[service]} wide>
              <Copyable text={url} what={t.maps.service[service]} />
            </Fact>
          ))}
        </Facts>
        <Text size="sm" c="dimmed">
          {t.basemaps.addressesLead}
        </Text>
        <Snippets texts={CLIENTS.map((client) => [client, snippet(client, described)])} />
      </Stack>
    </Section>
  )
}

interface SnippetsProps {
  /** the text to paste into each client */
  readonly texts: readonly (readonly [client: string, text: string])[]
}

/** Ready to paste, for the clients that people use. */
export function Snippets({ texts }: SnippetsProps) {
  const t = useTexts()
  return (
    <Tabs defaultValue={texts[0]?.[0] ?? null} keepMounted={false}>
      <Tabs.List>
        {texts.map(([client]) => (
          <Tabs.Tab key={client} value={client}>
            {client}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {texts.map(([client, text]) => (
        <Tabs.Panel key={client} value={client} pt="sm">
          <CopyBlock text={text} what={t.basemaps.addressOf(client)} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
