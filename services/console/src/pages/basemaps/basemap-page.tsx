import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { IconColumns2, IconMap2, IconSend } from '@tabler/icons-react'
import { useParams } from 'react-router'
import { deleteBasemap, updateBasemap } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { SourceLink } from '../../ui/columns.js'
import { Copyable } from '../../ui/copy.js'
import { DeleteButton } from '../../ui/delete.js'
import { Fact, Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Name } from '../../ui/name.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { WithdrawButton, WithdrawnMark } from '../../ui/withdraw.js'
import { HeatSection } from '../usage/heat-section.js'
import { TogetherSection } from '../usage/together-section.js'
import { UsageSection } from '../usage/usage-section.js'
import { Addresses } from './addresses.js'
import { CachePolicyField } from './cache-policy-field.js'
import { DefaultBeforeButton } from './default-before.js'
import { ShareButton } from './share-button.js'
import { SignButton } from './sign-button.js'
import { useIsSliced, WithBasemap } from './use-basemap.js'
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
            <Facts>
              <Fact name={t.basemaps.default}>
                {basemap.default_version === null ? t.basemaps.noDefault : <Name>{basemap.default_version}</Name>}{' '}
                <DefaultBeforeButton basemap={basemap} />
              </Fact>
              <Fact name={t.common.source}>
                <SourceLink code={basemap.source_code} />
              </Fact>
              <Fact name={t.common.created}>
                <Ago at={basemap.created_at} />
              </Fact>
              <Fact name={t.common.updated}>
                <Ago at={basemap.updated_at} />
              </Fact>
              <Fact name={t.caching.policy}>
                <CachePolicyField basemap={basemap} />
              </Fact>
              <Fact name={t.basemaps.template}>
                <Copyable text={basemap.url_template} what={t.basemaps.template} />
              </Fact>
            </Facts>
          </Section>
          <UsageSection by="basemap" id={basemap.code} />
          <TogetherSection by="basemap" id={basemap.code} />
          <HeatSection basemap={basemap} />
          <Section title={t.basemaps.addresses} note={t.basemaps.addressesLead}>
            <Addresses basemap={basemap} />
          </Section>
        </Frame>
      )}
    </WithBasemap>
  )
}

function Actions({
  basemap: { code, name, default_version: current, versions, withdrawn, ...rest },
}: {
  basemap: AdminBasemap
}) {
  const t = useTexts()
  const here = `/basemaps/${segment(code)}`
  const shown = current ?? versions.at(-1)?.version
  return (
    <>
      <WithdrawnMark of={{ withdrawn, ...rest }} />
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
        withFiles={useIsSliced(code)}
      />
      <ButtonLink
        to={`/pushes/new?basemap=${encodeURIComponent(code)}`}
        needs="operator"
        variant="default"
        icon={IconSend}
      >
        {t.basemaps.push}
      </ButtonLink>
      <ShareButton code={code} name={name} />
      <SignButton code={code} name={name} versions={versions} />
      <ButtonLink to={`${here}/compare`} variant="default" icon={IconColumns2}>
        {t.basemaps.compare}
      </ButtonLink>
      {shown !== undefined && (
        <ButtonLink to={`${here}/versions/${segment(shown)}`} icon={IconMap2}>
          {t.basemaps.preview}
        </ButtonLink>
      )}
    </>
  )
}
