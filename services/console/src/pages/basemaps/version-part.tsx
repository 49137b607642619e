import type { BasemapVersion, Bounds } from '@gateway/contracts/basemap.js'
import { Group, NumberInput, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { segment } from '../../api/client.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/columns.js'
import { Missing } from '../../ui/missing.js'
import { NameLink } from '../../ui/name.js'
import { Page } from '../../ui/page.js'
import { shortText } from '../../ui/shown-text.js'
import { parseBounds } from '../pushes/export-form.js'
import { BoundsText } from './bounds-text.js'
import { WithBasemap } from './use-basemap.js'

/** The page of a form about a part of the version that its address names. */
export function VersionPartPage(props: {
  readonly title: string
  readonly children: (code: string, version: BasemapVersion) => ReactNode
}) {
  const t = useTexts()
  const { code = '', version: label = '' } = useParams()
  const here = `/basemaps/${segment(code)}`
  return (
    <WithBasemap code={code}>
      {(basemap) => {
        const version = basemap.versions.find((v) => v.version === label)
        const back = { label: basemap.name, to: here }
        if (version === undefined) return <Missing title={t.basemaps.noSuchVersion(shortText(label))} back={back} />
        return (
          <Page
            title={props.title}
            lead={`${basemap.name} · ${label}`}
            above={[back, { label, to: `${here}/versions/${segment(label)}` }]}
          >
            {props.children(code, version)}
          </Page>
        )
      }}
    </WithBasemap>
  )
}

export interface VersionPart {
  /** text of the box, empty for all of the version */
  readonly bounds: string
  readonly zooms: { readonly min: number; readonly max: number }
}

interface PartFieldsProps {
  readonly version: BasemapVersion
  readonly value: VersionPart
  readonly boundsHint: string
  readonly onChange: (part: VersionPart) => void
}

/** The fields of a box and of a range of zooms within those of a version. */
export function PartFields({ version, value, boundsHint, onChange }: PartFieldsProps) {
  const t = useTexts()
  const { bounds, zooms } = value
  const limits = { min: version.min_zoom, max: version.max_zoom, allowDecimal: false }
  return (
    <>
      <TextInput
        label={t.exports.bounds}
        description={boundsHint}
        value={bounds}
        onChange={(event) => onChange({ ...value, bounds: event.currentTarget.value })}
        error={parseBounds(bounds) === null && t.exports.boundsWrong}
      />
      <Group grow align="start">
        <NumberInput
          label={t.slicing.zoomMin}
          {...limits}
          value={zooms.min}
          onChange={(min) => onChange({ ...value, zooms: { ...zooms, min: Number(min) } })}
        />
        <NumberInput
          label={t.slicing.zoomMax}
          {...limits}
          value={zooms.max}
          onChange={(max) => onChange({ ...value, zooms: { ...zooms, max: Number(max) } })}
        />
      </Group>
    </>
  )
}

interface OfVersion {
  readonly basemap_code: string
  readonly version: string
  readonly bounds: Bounds | null
}

export function versionName({ basemap_code, version }: Pick<OfVersion, 'basemap_code' | 'version'>): string {
  return `${basemap_code} · ${version}`
}

/** Columns of a list of work on parts of versions: the version, and the part. */
export function useVersionPartColumns<Row extends OfVersion>(zoomsOf: (row: Row) => string): readonly Column<Row>[] {
  const t = useTexts()
  return [
    {
      id: 'version',
      header: t.exports.version,
      sort: 'basemap_code',
      value: versionName,
      cell: (row) => (
        <NameLink
          to={`/basemaps/${segment(row.basemap_code)}/versions/${segment(row.version)}`}
          fw={550}
          name={versionName(row)}
        />
      ),
    },
    {
      id: 'part',
      header: t.exports.part,
      value: zoomsOf,
      cell: (row) => (
        <>
          {zoomsOf(row)}
          {row.bounds !== null && (
            <Text size="xs" c="dimmed">
              <BoundsText bounds={row.bounds} />
            </Text>
          )}
        </>
      ),
    },
  ]
}
