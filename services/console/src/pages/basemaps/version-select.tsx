import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { NativeSelect } from '@mantine/core'
import { segment } from '../../api/client.js'
import { useNavigate } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { collator } from '../../ui/table-rows.js'

/** Selects the version to show: choosing another version opens its page. */
export function VersionSelect({ basemap, version }: { basemap: AdminBasemap; version: string }) {
  const t = useTexts()
  const go = useNavigate()
  const { code, versions, default_version: current } = basemap
  const newest = newestOf(versions)
  const data = versions.map((v) => ({
    value: v.version,
    label:
      v.version === current
        ? t.maps.ofDefault(v.version)
        : v.version === newest
          ? t.maps.ofNewest(v.version)
          : v.version,
  }))
  return (
    <NativeSelect
      label={t.common.version}
      value={version}
      data={data}
      onChange={(event) => go(`/basemaps/${segment(code)}/versions/${segment(event.currentTarget.value)}`)}
    />
  )
}

/** Returns the version whose label is last in natural order, as the service orders them; null if there is only one version. */
export function newestOf(versions: readonly { readonly version: string }[]): string | null {
  if (versions.length < 2) return null
  return versions.map(({ version }) => version).reduce((a, b) => (collator.compare(a, b) >= 0 ? a : b))
}
