import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { previewTokenQuery } from '../../api/preview.js'
import { columnsOf } from '../../map/geographic.js'
import { addressText, parseAddress, type TileAddress } from '../../map/tile-address.js'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { type InspectedTile, inspectTile } from './inspect-tile.js'

interface TileInspectorProps {
  readonly code: string
  readonly version: BasemapVersion
  readonly address: TileAddress | null
  readonly onInspect: (address: TileAddress) => void
}

/** Shows the response that a client gets for one tile, chosen by a click on the map or by its address. */
export function TileInspector({ code, version, address, onInspect }: TileInspectorProps) {
  const t = useTexts()
  const token = useQuery(previewTokenQuery({ basemap_code: code }))
  const wanted = address === null ? null : addressText(address)
  const tile = useQuery({
    queryKey: ['inspected-tile', code, version.version, wanted],
    queryFn: ({ signal }) => inspectTile(code, version, wanted as string, token.data?.token as string, signal),
    enabled: wanted !== null && token.data !== undefined,
    gcTime: 0,
  })
  return (
    <Section title={t.map.inspector} note={t.map.inspectorHint} className={address === null ? '' : 'chosen'}>
      <AddressForm version={version} address={wanted} onInspect={onInspect} />
      <div aria-live="polite">
        {tile.error !== null && <Problem title={t.map.failed} error={tile.error} />}
        {tile.data !== undefined && <Inspected tile={tile.data} />}
      </div>
    </Section>
  )
}

interface AddressFormProps {
  readonly version: BasemapVersion
  readonly address: string | null
  readonly onInspect: (address: TileAddress) => void
}

function AddressForm({ version, address, onInspect }: AddressFormProps) {
  const t = useTexts()
  const [text, setText] = useState(address ?? '')
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    if (address !== null) setText(address)
  }, [address])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const columns = columnsOf(version)
    const parsed = parseAddress(text, { minZoom: version.min_zoom, maxZoom: version.max_zoom, columns })
    if (parsed === null) return setProblem(t.map.addressWrong)
    if (parsed === 'range') return setProblem(t.map.outOfRange(version.min_zoom, version.max_zoom, columns))
    setProblem(null)
    onInspect(parsed)
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          label={t.map.address}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={problem}
          autoComplete="off"
          inputMode="numeric"
          flex={1}
        />
        <Button type="submit" variant="default">
          {t.map.inspect}
        </Button>
      </Group>
    </form>
  )
}

function Inspected({ tile }: { tile: InspectedTile }) {
  const t = useTexts()
  const formats = useFormats()
  return (
    <Stack gap="sm">
      {tile.status === 404 && (
        <Alert color="orange" title={t.map.missing}>
          {t.map.missingAdvice}
        </Alert>
      )}
      {tile.status !== 404 && tile.status !== 200 && <Alert color="red">{t.map.refused(tile.status)}</Alert>}
      {tile.image !== null && <TileImage bytes={tile.image} address={tile.address} />}
      <Facts>
        <Fact name={t.map.answer}>{tile.status}</Fact>
        <Fact name={t.common.size}>{formats.bytes(tile.size)}</Fact>
        <Fact name={t.map.time}>{t.map.milliseconds(formats.number(tile.milliseconds, 1))}</Fact>
      </Facts>
      <Text size="sm" fw={550}>
        {t.map.headers}
      </Text>
      <dl className="headers">
        {tile.headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Stack>
  )
}

function TileImage({ bytes, address }: { bytes: Blob; address: string }) {
  const t = useTexts()
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(bytes)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [bytes])
  return url === null ? null : <img src={url} alt={t.map.imageOf(address)} className="tile-image" />
}
