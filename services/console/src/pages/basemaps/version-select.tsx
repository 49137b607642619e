import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { NativeSelect } from '@mantine/core'
import { segment } from '../../api/client.js'
import { useNavigate } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { newestOf } from './newest.js'

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
