import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { useState } from 'react'
import IconCloudDownload from '~icons/cloud-download'
import IconColumns2 from '~icons/columns-2'
import IconFileExport from '~icons/file-export'
import { deleteVersion, updateVersion } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useAllowed } from '../../api/session.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { DeleteButton } from '../../ui/delete.js'
import { ButtonLink } from '../../ui/links.js'
import { Missing } from '../../ui/missing.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { Page as Frame } from '../../ui/page.js'
import { PageTabs } from '../../ui/page-tabs.js'
import { shortText } from '../../ui/shown-text.js'
import { Status } from '../../ui/status.js'
import { WithdrawButton } from '../../ui/withdraw.js'
import { WithdrawnMark } from '../../ui/withdrawn.js'
import { WriteButton } from '../../ui/write-button.js'
import { Addresses, DefaultDialog, OverridesSection, UsageSection } from './lazy-tabs.js'
import { MapAndFacts } from './map-and-facts.js'
import { ReviewButtons } from './review-buttons.js'
import { ShareButton } from './share-button.js'
import { useIsSliced, WithBasemap } from './use-basemap.js'
import { VersionFacts } from './version-facts.js'

export function Page() {
  const t = useTexts()
  const { code = '', version: label = '' } = useParams()
  return (
    <WithBasemap code={code}>
      {(basemap) => {
        const version = basemap.versions.find((v) => v.version === label)
        if (version !== undefined) return <Preview key={label} basemap={basemap} version={version} />
        const back = { label: basemap.name, to: `/basemaps/${segment(code)}` }
        return <Missing title={t.basemaps.noSuchVersion(shortText(label))} back={back} />
      }}
    </WithBasemap>
  )
}

function Preview({ basemap, version }: { basemap: AdminBasemap; version: AdminBasemapVersion }) {
  const t = useTexts()
  const here = `/basemaps/${segment(basemap.code)}`
  const at = { code: basemap.code, version: version.version }
  const title = `${basemap.name} · ${version.version}`
  /** null: not asked yet, so that the dialog is not loaded */
  const [asked, setAsked] = useState<boolean | null>(null)
  // Only an approval publishes a version that is held or rejected.
  const isReviewed = version.held || version.rejected_reason !== null
  const isOperator = useAllowed('operator')
  const withFiles = useIsSliced(basemap.code)
  const isDefault = version.version === basemap.default_version
  return (
    <Frame
      title={title}
      lead={
        <span className="mono">
          {basemap.code} / {version.version}
        </span>
      }
      above={[
        { label: t.basemaps.title, to: '/basemaps' },
        { label: basemap.name, to: here },
      ]}
      actions={
        <>
          <ReviewButtons code={basemap.code} version={version} />
          {!isReviewed && <WithdrawnMark of={version} />}
          {isDefault ? (
            <Status tone="good">{t.basemaps.isDefault}</Status>
          ) : isReviewed ? null : (
            <WriteButton needs="operator" variant="default" onClick={() => setAsked(true)}>
              {t.basemaps.makeDefault}
            </WriteButton>
          )}
          <ShareButton code={basemap.code} name={title} version={version.version} />
          <ButtonLink
            to={`${here}/compare?left=${encodeURIComponent(version.version)}`}
            variant="default"
            icon={IconColumns2}
          >
            {t.basemaps.compare}
          </ButtonLink>
          {version.storage === 'upstream' && (
            <ButtonLink
              to={`${here}/versions/${segment(version.version)}/seed`}
              needs="operator"
              variant="default"
              icon={IconCloudDownload}
            >
              {t.seeds.fetch}
            </ButtonLink>
          )}
          <ButtonLink
            to={`${here}/versions/${segment(version.version)}/export`}
            needs="operator"
            variant="default"
            icon={IconFileExport}
          >
            {t.exports.export}
          </ButtonLink>
          {isOperator && (
            <MoreMenu needs="operator">
              {!isReviewed && (
                <WithdrawButton
                  withdrawal={(withdrawn) => updateVersion(at, { withdrawn })}
                  name={title}
                  withdrawn={version.withdrawn}
                />
              )}
              <DeleteButton
                deletion={(files) => deleteVersion(at, files)}
                name={title}
                words={t.remove.map}
                to={here}
                withFiles={withFiles}
              />
            </MoreMenu>
          )}
        </>
      }
    >
      <MapAndFacts basemap={basemap} version={version} facts={<VersionFacts version={version} />} />
      <PageTabs
        below
        label={title}
        tabs={[
          {
            id: 'values',
            label: t.maps.tabs.values,
            content: <OverridesSection basemap={basemap} version={version} />,
          },
          {
            id: 'usage',
            label: t.maps.tabs.usage,
            content: <UsageSection by="version" id={`${at.code}/${at.version}`} />,
          },
          {
            id: 'addresses',
            label: t.maps.tabs.addresses,
            content: <Addresses basemap={basemap} pinned={version.version} />,
          },
        ]}
      />
      {asked !== null && (
        <DefaultDialog basemap={basemap} version={asked ? version : null} onClose={() => setAsked(false)} />
      )}
    </Frame>
  )
}
