import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { IconColumns2, IconMap2, IconSend } from '@tabler/icons-react'
import { useParams } from 'react-router'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { Copy } from '../../ui/copy.js'
import { Facts } from '../../ui/facts.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { Addresses } from './addresses.js'
import { WithBasemap } from './use-basemap.js'
import { VersionsTable } from './versions-table.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  return (
    <WithBasemap code={code}>
      {(basemap) => (
        <Frame
          title={basemap.name}
          lead={<span className="mono">{basemap.code}</span>}
          above={[{ label: t.basemaps.title, to: '/basemaps' }]}
          actions={<Actions basemap={basemap} />}
        >
          <Section title={t.basemaps.versions}>
            <VersionsTable basemap={basemap} />
          </Section>
          <Section title={t.basemaps.details}>
            <Details basemap={basemap} />
          </Section>
          <Section title={t.basemaps.addresses} note={t.basemaps.addressesLead}>
            <Addresses basemap={basemap} />
          </Section>
        </Frame>
      )}
    </WithBasemap>
  )
}

function Actions({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const here = `/basemaps/${segment(basemap.code)}`
  const shown = basemap.default_version ?? basemap.versions.at(-1)?.version
  return (
    <>
      <ButtonLink
        to={`/pushes/new?basemap=${encodeURIComponent(basemap.code)}`}
        variant="default"
        leftSection={<IconSend size={16} aria-hidden />}
      >
        {t.basemaps.push}
      </ButtonLink>
      <ButtonLink to={`${here}/compare`} variant="default" leftSection={<IconColumns2 size={16} aria-hidden />}>
        {t.basemaps.compare}
      </ButtonLink>
      {shown !== undefined && (
        <ButtonLink to={`${here}/versions/${segment(shown)}`} leftSection={<IconMap2 size={16} aria-hidden />}>
          {t.basemaps.preview}
        </ButtonLink>
      )}
    </>
  )
}

function Details({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  return (
    <Facts
      facts={[
        [t.basemaps.default, basemap.default_version ?? t.basemaps.noDefault],
        [
          t.common.source,
          <TextLink key="source" to={`/sources/${segment(basemap.source_code)}`}>
            {basemap.source_code}
          </TextLink>,
        ],
        [t.common.created, <Ago key="created" at={basemap.created_at} />],
        [t.common.updated, <Ago key="updated" at={basemap.updated_at} />],
        [
          t.basemaps.template,
          <span key="template" className="with-copy">
            <span className="mono">{basemap.url_template}</span>
            <Copy text={basemap.url_template} what={t.basemaps.template} />
          </span>,
        ],
      ]}
    />
  )
}
