import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, Anchor, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { MapMouseEvent } from 'maplibre-gl'
import { useMemo } from 'react'
import { ApiError } from '../api/client.js'
import { systemQuery } from '../api/system.js'
import { useTexts } from '../texts/texts.js'
import { Problem } from '../ui/problem.js'
import type { Camera } from './camera.js'
import { isOwnGrid } from './geographic.js'
import type { MapLibre } from './library.js'
import { MapView } from './map-view.js'
import { useReference, withReference } from './reference.js'
import { MapSkeleton } from './skeleton.js'
import { useVersionPreview } from './use-preview.js'
import { type Overlay, type ServedAs, versionContent, withOverlay } from './version-content.js'

export interface VersionMapProps {
  readonly code: string
  readonly version: BasemapVersion
  readonly grid: boolean
  /** drawn above the version */
  readonly overlay?: Overlay
  readonly camera?: Camera | null
  readonly onClick?: (event: MapMouseEvent) => void
  readonly onPointer?: (event: MapMouseEvent) => void
  /** coasts and borders below it */
  readonly reference?: boolean
  readonly onCamera?: (camera: Camera) => void
  readonly onReady?: (map: MapLibre) => void
  readonly tall?: boolean
  /** default: like the version */
  readonly served?: ServedAs
}

/** A version on the map, or why it cannot be shown. */
export function VersionMap({ code, version, grid, overlay, served, reference = false, ...rest }: VersionMapProps) {
  const t = useTexts()
  const { token, tileJson, error } = useVersionPreview(code, version)
  const layers = tileJson?.vector_layers?.map(({ id }) => id).join('\n') ?? ''
  const coasts = useReference(reference)
  const content = useMemo(() => {
    const own = versionContent(code, version, layers === '' ? [] : layers.split('\n'), grid, served)
    return withReference(overlay === undefined ? own : withOverlay(own, overlay), reference ? coasts : undefined)
  }, [code, version, layers, grid, overlay, served, reference, coasts])
  if (!version.available) return <Alert color="orange">{t.map.unavailable}</Alert>
  if (isOwnGrid(version)) return <Alert color="orange">{t.map.ownGrid(version.crs)}</Alert>
  if (error !== null) return <NotShown error={error} />
  if (token === undefined || tileJson === undefined) {
    return <MapSkeleton tall={rest.tall ?? false} />
  }
  return (
    <Stack gap={4}>
      <MapView label={`${code} ${version.version}`} content={content} bounds={version.bounds} token={token} {...rest} />
      {tileJson.attribution !== undefined && (
        <small className="attribution">{withoutMarkup(tileJson.attribution)}</small>
      )}
    </Stack>
  )
}

/** Shown if this origin serves the console, but no tiles. */
function NotShown({ error }: { error: Error }) {
  const t = useTexts()
  const system = useQuery(systemQuery)
  if (!(error instanceof ApiError) || error.status !== 404 || system.data === undefined) {
    return <Problem title={t.map.failed} error={error} />
  }
  const there = `${system.data.api_base_url}${window.location.pathname}${window.location.search}`
  const elsewhere = new URL(there).origin !== window.location.origin
  if (!elsewhere) return <Problem title={t.map.failed} error={error} />
  return (
    <Alert color="orange" title={t.map.notHere}>
      <Stack gap="xs" align="flex-start">
        {t.map.notHereAdvice(system.data.api_base_url)}
        <Anchor href={there}>{t.map.openThere}</Anchor>
      </Stack>
    </Alert>
  )
}

function withoutMarkup(html: string): string {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? ''
}
