import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { NativeSelect, Select } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'

export interface Pushed {
  readonly basemap_code: string
  readonly version: string
  readonly vector_code: string
}

interface PushedFieldProps {
  readonly kind: string
  readonly basemaps: readonly AdminBasemap[]
  readonly vectors: readonly AdminVector[]
  readonly value: Pushed
  readonly onChange: (pushed: Pushed) => void
}

/** A list of thousands would freeze the page; typing narrows it down. */
const MAX_OPTIONS = 50

/** A basemap with its version, or a vector. */
export function PushedField({ kind, basemaps, vectors, value, onChange }: PushedFieldProps) {
  const t = useTexts()
  const none = { value: '', label: '–' }
  if (kind === 'vector') {
    return (
      <Select
        label={t.pushes.vector}
        searchable
        limit={MAX_OPTIONS}
        data={vectors.map(({ code, name }) => ({ value: code, label: name === code ? code : `${name} · ${code}` }))}
        value={value.vector_code || null}
        onChange={(code) => onChange({ ...value, vector_code: code ?? '' })}
      />
    )
  }
  const basemap = basemaps.find(({ code }) => code === value.basemap_code)
  const versions = basemap?.versions.map(({ version }) => version).reverse() ?? []
  const current =
    basemap?.default_version == null ? [] : [{ value: 'current', label: t.pushes.current(basemap.default_version) }]
  return (
    <>
      <Select
        label={t.pushes.basemap}
        searchable
        limit={MAX_OPTIONS}
        data={basemaps.map(({ code, name }) => ({ value: code, label: name === code ? code : `${name} · ${code}` }))}
        value={value.basemap_code || null}
        onChange={(code) => onChange({ ...value, basemap_code: code ?? '', version: '' })}
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
