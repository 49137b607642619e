import type { AdminVector } from '@gateway/contracts/vector.js'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import IconDownload from '~icons/download'
import IconPalette from '~icons/palette'
import IconSend from '~icons/send'
import { deleteVector, updateVector, vectorQuery } from '../../api/catalog.js'
import { call, LONG_TIMEOUT_MS, request } from '../../api/client.js'
import { fetchPreviewToken, TOKEN_HEADER } from '../../api/preview.js'
import { useAllowed } from '../../api/session.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { SourceLink } from '../../ui/columns.js'
import { DeleteButton } from '../../ui/delete.js'
import { Fact, Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { notifyFailed } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { PageTabs } from '../../ui/page-tabs.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { Ago } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { WithdrawButton } from '../../ui/withdraw.js'
import { isServed, WithdrawnMark } from '../../ui/withdrawn.js'
import { BoundsText } from '../basemaps/bounds-text.js'
import { UsageSection } from '../usage/usage-section.js'
import { ClickedFeatures } from './clicked-features.js'
import { EncodingField } from './encoding-field.js'
import { FeaturesTable } from './features-table.js'
import { TilesSection, TilesStatus } from './tiles-section.js'
import { useVectorMap } from './use-vector-map.js'
import { VectorAddresses } from './vector-addresses.js'
import { VectorMap } from './vector-map.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  return (
    <Loaded
      query={useQuery(vectorQuery(code))}
      what={t.vectors.what}
      missing={{ title: t.vectors.noSuch(shortText(code)), back: { label: t.vectors.title, to: '/vectors' } }}
    >
      {(vector) => <Shown vector={vector} />}
    </Loaded>
  )
}

function Shown({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const isOperator = useAllowed('operator')
  const { chosen, setChosen, view, show, clicked, onClick, ...map } = useVectorMap()
  const features = {
    id: 'features',
    label: t.vectors.table,
    content: <FeaturesTable vector={vector} view={view} onShow={show} />,
  }
  const tabs = [
    ...(isServed(vector) && vector.available ? [features] : []),
    { id: 'tiles', label: t.vectors.tiles, content: <TilesSection vector={vector} /> },
    { id: 'usage', label: t.maps.tabs.usage, content: <UsageSection by="vector" id={vector.code} /> },
    { id: 'addresses', label: t.maps.tabs.addresses, content: <VectorAddresses vector={vector} /> },
  ]
  return (
    <Frame
      title={vector.name}
      lead={<span className="mono">{vector.code}</span>}
      above={[{ label: t.vectors.title, to: '/vectors' }]}
      actions={
        <>
          <WithdrawnMark of={vector} />
          <ButtonLink
            to={`/styles/new?vector=${encodeURIComponent(vector.code)}`}
            needs="operator"
            variant="default"
            icon={IconPalette}
          >
            {t.styles.restyle}
          </ButtonLink>
          <ButtonLink
            to={`/pushes/new?vector=${encodeURIComponent(vector.code)}`}
            needs="operator"
            variant="default"
            icon={IconSend}
          >
            {t.basemaps.push}
          </ButtonLink>
          <Download vector={vector} />
          {isOperator && (
            <MoreMenu needs="operator">
              <WithdrawButton
                withdrawal={(withdrawn) => updateVector(vector.code, { withdrawn })}
                name={vector.name}
                withdrawn={vector.withdrawn}
              />
              <DeleteButton
                deletion={() => deleteVector(vector.code)}
                name={vector.name}
                words={t.remove.map}
                to="/vectors"
              />
            </MoreMenu>
          )}
        </>
      }
    >
      <div className="map-and-side">
        <VectorMap vector={vector} chosen={chosen} onClicked={onClick} {...map} />
        <div className="side">
          <Section title={t.maps.facts} quiet>
            <Details vector={vector} />
          </Section>
          {clicked.length > 0 && (
            <ClickedFeatures
              features={clicked}
              onShow={(feature) => setChosen([feature])}
              onClose={() => onClick([])}
            />
          )}
        </div>
      </div>
      <PageTabs below label={vector.name} tabs={tabs} />
    </Frame>
  )
}

function Download({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const download = useMutation({
    mutationFn: () => saveDownload(vector),
    onError: (error) => notifyFailed(t.vectors.downloadFailed, error),
  })
  return (
    <Button
      leftSection={<IconDownload size={16} />}
      loading={download.isPending}
      disabled={!vector.available}
      onClick={() => download.mutate()}
    >
      {t.vectors.download}
    </Button>
  )
}

function Details({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const formats = useFormats()
  return (
    <Facts>
      <Fact name={t.common.kind}>{t.vectors.kinds[vector.kind]}</Fact>
      <Fact name={t.common.size}>{formats.bytes(vector.size)}</Fact>
      <Fact name={t.vectors.crs}>{vector.crs ?? '–'}</Fact>
      <Fact name={t.common.bounds} wide>
        <BoundsText bounds={vector.bounds} />
      </Fact>
      <Fact name={t.vectors.geometry}>{vector.geometry_type ?? '–'}</Fact>
      <Fact name={t.vectors.features}>
        {vector.feature_count === null ? '–' : formats.number(vector.feature_count)}
      </Fact>
      <Fact name={t.vectors.encoding}>
        <EncodingField key={`${vector.encoding_source} ${vector.encoding}`} vector={vector} />
      </Fact>
      <Fact name={t.vectors.tiles}>
        <TilesStatus tiles={vector.tiles} />
      </Fact>
      <Fact name={t.vectors.modified}>
        <Ago at={vector.modified_at} />
      </Fact>
      <Fact name={t.common.source}>
        <SourceLink code={vector.source_code} />
      </Fact>
      <Fact name={t.vectors.relativePath} wide>
        <bdi className="mono">{vector.relative_path}</bdi>
      </Fact>
      <Fact name={t.common.path} wide>
        <bdi className="mono">{vector.path}</bdi>
      </Fact>
    </Facts>
  )
}

/** Fetches the whole download from this page's origin, with the token in a header. Throws ApiError. */
function fetchDownload(vector: AdminVector, token: string, signal?: AbortSignal): Promise<Blob> {
  const options = { signal, timeoutMs: LONG_TIMEOUT_MS, headers: { [TOKEN_HEADER]: token } }
  const { path } = call('get', '/vectors/{code}/download', { params: { path: { code: vector.code } } })
  return request(path, {}, options, (response) => response.blob())
}

/** Saves the download as a file. A plain link would carry the token in its URL, which browsers and proxies store. */
async function saveDownload(vector: AdminVector): Promise<void> {
  const { token } = await fetchPreviewToken({ vector_code: vector.code })
  const url = URL.createObjectURL(await fetchDownload(vector, token))
  const link = document.createElement('a')
  link.href = url
  link.download = vector.kind === 'shapefile' ? vector.file_name.replace(/\.shp$/i, '.zip') : vector.file_name
  link.click()
  URL.revokeObjectURL(url)
}
