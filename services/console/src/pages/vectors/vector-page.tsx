import type { AdminVector } from '@gateway/contracts/vector.js'
import { Button } from '@mantine/core'
import { IconDownload, IconSend } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'react-router'
import { deleteVector, updateVector, vectorQuery } from '../../api/catalog.js'
import { useAllowed } from '../../api/session.js'
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
import { WithdrawButton, WithdrawnMark } from '../../ui/withdraw.js'
import { BoundsText } from '../basemaps/bounds-text.js'
import { UsageSection } from '../usage/usage-section.js'
import { saveDownload } from './download.js'
import { EncodingField } from './encoding-field.js'
import { VectorAddresses } from './vector-addresses.js'
import { isReadAtOnce, VectorAttributes, VectorMap } from './vector-preview.js'

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
  const [asked, setAsked] = useState(false)
  const read = asked || isReadAtOnce(vector)
  const attributes = {
    id: 'attributes',
    label: t.maps.tabs.attributes,
    content: <VectorAttributes vector={vector} />,
  }
  const tabs = [
    ...(read ? [attributes] : []),
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
            to={`/pushes/new?vector=${encodeURIComponent(vector.code)}`}
            needs="operator"
            variant="default"
            icon={IconSend}
          >
            {t.basemaps.push}
          </ButtonLink>
          <Download vector={vector} />
          {isOperator && (
            <MoreMenu>
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
        <VectorMap vector={vector} read={read} onRead={() => setAsked(true)} />
        <div className="side">
          <Section title={t.maps.facts} quiet>
            <Details vector={vector} />
          </Section>
        </div>
      </div>
      <PageTabs label={vector.name} tabs={tabs} />
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
      leftSection={<IconDownload size={16} aria-hidden />}
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
      <Fact name={t.vectors.features}>{vector.feature_count ?? '–'}</Fact>
      <Fact name={t.vectors.encoding}>
        <EncodingField key={`${vector.encoding_source} ${vector.encoding}`} vector={vector} />
      </Fact>
      <Fact name={t.vectors.tiles} wide>
        <TilesState tiles={vector.tiles} />
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

/** The progress of the vector tiles, and the features that they leave out by zoom. */
function TilesState({ tiles }: { tiles: AdminVector['tiles'] }) {
  const t = useTexts()
  const { status, message, min_zoom: first, max_zoom: last, left_out: leftOut } = tiles
  const counts = Object.entries(leftOut)
  return (
    <>
      {t.vectors.tilesStates[status]}
      {first !== null && last !== null && `, ${t.vectors.tilesZooms(first, last)}`}
      {message !== '' && <div>{message}</div>}
      {counts.length > 0 && (
        <div>{t.vectors.tilesLeftOut(counts.map(([zoom, count]) => `${zoom}: ${count}`).join(', '))}</div>
      )}
    </>
  )
}
