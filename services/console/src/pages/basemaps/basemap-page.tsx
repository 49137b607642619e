import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Group, Text } from '@mantine/core'
import IconColumns2 from '~icons/columns-2'
import IconSend from '~icons/send'
import { deleteBasemap, updateBasemap } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useAllowed } from '../../api/session.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { SourceLink } from '../../ui/columns.js'
import { DeleteButton } from '../../ui/delete.js'
import { Fact } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { Page as Frame } from '../../ui/page.js'
import { PageTabs } from '../../ui/page-tabs.js'
import { Section } from '../../ui/section.js'
import { shownText } from '../../ui/shown-text.js'
import { Ago } from '../../ui/time.js'
import { WithdrawButton } from '../../ui/withdraw.js'
import { WithdrawnMark } from '../../ui/withdrawn.js'
import { DefaultBeforeButton } from './default-before.js'
import {
  AboutForm,
  Access,
  Addresses,
  CopiesSection,
  DefaultsSection,
  HeatSection,
  TogetherSection,
  UsageSection,
  VersionsTable,
} from './lazy-tabs.js'
import { MapAndFacts } from './map-and-facts.js'
import { Tags } from './tags.js'
import { useIsSliced, WithBasemap } from './use-basemap.js'
import { VersionFacts } from './version-facts.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  return (
    <WithBasemap code={code}>
      {(basemap) => {
        const { versions, default_version: current } = basemap
        const version = versions.find((v) => v.version === current) ?? versions.at(-1)
        return (
          <Frame
            title={basemap.name}
            lead={<Lead basemap={basemap} />}
            above={[{ label: t.basemaps.title, to: '/basemaps' }]}
            actions={<Actions basemap={basemap} />}
          >
            {version === undefined ? (
              <Text c="dimmed">{t.maps.noMap}</Text>
            ) : (
              // The key remounts the map when the default version changes.
              <MapAndFacts
                key={version.version}
                basemap={basemap}
                version={version}
                facts={
                  <>
                    <BasemapFacts basemap={basemap} />
                    <VersionFacts version={version} />
                  </>
                }
              />
            )}
            <BasemapTabs basemap={basemap} />
          </Frame>
        )
      }}
    </WithBasemap>
  )
}

function Lead({ basemap: { code, description, tags } }: { basemap: AdminBasemap }) {
  return (
    <Group gap="xs">
      <span className="mono">{code}</span>
      <Tags tags={tags} />
      {description !== null && (
        <Text component="span" lineClamp={2}>
          {shownText(description)}
        </Text>
      )}
    </Group>
  )
}

function BasemapFacts({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  return (
    <>
      <Fact name={t.maps.owner}>{basemap.owner ?? '–'}</Fact>
      <Fact name={t.common.source}>
        <SourceLink code={basemap.source_code} />
      </Fact>
      <Fact name={t.common.created}>
        <Ago at={basemap.created_at} />
      </Fact>
      <Fact name={t.common.updated}>
        <Ago at={basemap.updated_at} />
      </Fact>
    </>
  )
}

function BasemapTabs({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const { tabs } = t.maps
  return (
    <PageTabs
      below
      label={basemap.name}
      tabs={[
        {
          id: 'versions',
          label: tabs.versions,
          content: (
            <Section title={t.basemaps.versions} quiet>
              <VersionsTable basemap={basemap} />
            </Section>
          ),
        },
        {
          id: 'usage',
          label: tabs.usage,
          content: (
            <>
              <UsageSection by="basemap" id={basemap.code} />
              <TogetherSection by="basemap" id={basemap.code} />
              <HeatSection basemap={basemap} />
            </>
          ),
        },
        { id: 'defaults', label: t.automation.tab, content: <DefaultsSection basemap={basemap} /> },
        { id: 'copies', label: t.copies.tab, content: <CopiesSection basemap={basemap} /> },
        { id: 'access', label: tabs.access, content: <Access basemap={basemap} /> },
        { id: 'addresses', label: tabs.addresses, content: <Addresses basemap={basemap} /> },
        { id: 'details', label: tabs.details, content: <AboutForm key={basemap.code} basemap={basemap} /> },
      ]}
    />
  )
}

function Actions({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const { code, name, withdrawn } = basemap
  const isOperator = useAllowed('operator')
  const withFiles = useIsSliced(code)
  return (
    <>
      <WithdrawnMark of={basemap} />
      <DefaultBeforeButton basemap={basemap} />
      <ButtonLink to={`/basemaps/${segment(code)}/compare`} variant="default" icon={IconColumns2}>
        {t.basemaps.compare}
      </ButtonLink>
      <ButtonLink to={`/pushes/new?basemap=${encodeURIComponent(code)}`} needs="operator" icon={IconSend}>
        {t.basemaps.push}
      </ButtonLink>
      {isOperator && (
        <MoreMenu needs="operator">
          <WithdrawButton
            withdrawal={(withdrawn) => updateBasemap(code, { withdrawn })}
            name={name}
            withdrawn={withdrawn}
          />
          <DeleteButton
            deletion={(files) => deleteBasemap(code, files)}
            name={name}
            words={t.remove.map}
            to="/basemaps"
            withFiles={withFiles}
          />
        </MoreMenu>
      )}
    </>
  )
}
