import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { basemapQuery, findBasemaps, findVectors } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { CodeSelect } from '../../ui/code-select.js'

export interface Pushed {
  readonly basemap_code: string
  readonly version: string
  readonly vector_code: string
}

interface PushedFieldProps {
  readonly kind: string
  readonly value: Pushed
  readonly onChange: (pushed: Pushed) => void
}

/** Selects a basemap with its version, or a vector. */
export function PushedField({ kind, value, onChange }: PushedFieldProps) {
  const t = useTexts()
  const { basemap_code: code } = value
  const basemap = useQuery({ ...basemapQuery(code), enabled: kind !== 'vector' && code !== '' }).data
  if (kind === 'vector') {
    return (
      <CodeSelect
        label={t.pushes.vector}
        kind="vectors"
        find={findVectors}
        value={value.vector_code}
        onChange={(vector) => onChange({ ...value, vector_code: vector })}
      />
    )
  }
  const none = { value: '', label: '–' }
  const versions = basemap?.versions.map(({ version }) => version).reverse() ?? []
  const current =
    basemap?.default_version == null ? [] : [{ value: 'current', label: t.pushes.current(basemap.default_version) }]
  return (
    <>
      <CodeSelect
        label={t.pushes.basemap}
        kind="basemaps"
        find={findBasemaps}
        value={code}
        onChange={(chosen) => onChange({ ...value, basemap_code: chosen, version: '' })}
      />
      <NativeSelect
        label={t.pushes.version}
        data={[none, ...current, ...versions]}
        value={value.version}
        onChange={(event) => onChange({ ...value, version: event.currentTarget.value })}
      />
    </>
  )
}
