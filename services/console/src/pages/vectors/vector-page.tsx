import type { AdminVector } from '@gateway/contracts/vector.js'
import { Button } from '@mantine/core'
import { IconDownload, IconSend } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { vectorsQuery } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { Copy } from '../../ui/copy.js'
import { Facts } from '../../ui/facts.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Missing } from '../../ui/missing.js'
import { notifyFailed } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { saveDownload } from './download.js'
import { VectorPreview } from './vector-preview.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  const query = useQuery(vectorsQuery)
  return (
    <Loaded query={query} what={t.vectors.what}>
      {({ items }) => {
        const vector = items.find((one) => one.code === code)
        return vector === undefined ? (
          <Missing title={t.vectors.noSuch(code)} back={{ label: t.vectors.title, to: '/vectors' }}>
            {t.basemaps.noSuchAdvice}
          </Missing>
        ) : (
          <Shown vector={vector} />
        )
      }}
    </Loaded>
  )
}

function Shown({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  return (
    <Frame
      title={vector.name}
      lead={<span className="mono">{vector.code}</span>}
      above={[{ label: t.vectors.title, to: '/vectors' }]}
      actions={
        <>
          <ButtonLink
            to={`/pushes/new?vector=${encodeURIComponent(vector.code)}`}
            variant="default"
            leftSection={<IconSend size={16} aria-hidden />}
          >
            {t.basemaps.push}
          </ButtonLink>
          <Download vector={vector} />
        </>
      }
    >
      <VectorPreview vector={vector} />
      <Section title={t.basemaps.details}>
        <Details vector={vector} />
      </Section>
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
    <Facts
      facts={[
        [t.common.kind, t.vectors.kinds[vector.kind]],
        [t.common.size, formats.bytes(vector.size)],
        [t.vectors.modified, <Ago key="modified" at={vector.modified_at} />],
        [
          t.common.source,
          <TextLink key="source" to={`/sources/${encodeURIComponent(vector.source_code)}`}>
            {vector.source_code}
          </TextLink>,
        ],
        [
          t.vectors.relativePath,
          <span key="path" className="mono">
            {vector.relative_path}
          </span>,
        ],
        [
          t.vectors.address,
          <span key="address" className="with-copy">
            <span className="mono">{vector.download_url}</span>
            <Copy text={vector.download_url} what={t.vectors.address} />
          </span>,
        ],
        [
          t.common.path,
          <span key="file" className="mono">
            {vector.path}
          </span>,
        ],
      ]}
    />
  )
}
