import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { AdminStyle } from '@gateway/contracts/style.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import type { AdminClient } from '../admin-client.js'
import type { DemoAddresses } from '../banner.js'
import { fillWithDemo } from './fill.js'
import { DEMO_BASEMAPS, DEMO_STYLES, DEMO_VECTORS, planDemo } from './plan.js'
import { BLUE_MARBLE } from './sources.js'
import { demoToken } from './token.js'

/** The layer of the suggested slice job. The demo token may read it. */
const DEMO_LAYER = 'first-layer'

export interface DemoPlaces {
  readonly dataDir: string
  /** URL by which this process reaches the read interface */
  readonly readUrl: string
  /** URL by which callers reach the API */
  readonly apiUrl: string
  /** URL by which map clients reach tiles */
  readonly tileBaseUrl: string
}

/** Fills an empty catalog with demo data and returns the URLs to try, or null if the catalog has other data. */
export async function prepareDemo(admin: AdminClient, places: DemoPlaces): Promise<DemoAddresses | null> {
  const before = await readCatalog(admin)
  const sources = await admin.get<{ items: readonly ScanSource[] }>('/scan-sources')
  const plan = planDemo(sources.items, before.basemaps.length + before.vectors.length)
  if (plan === 'none') return null
  if (plan === 'fill') await fillWithDemo(admin, places.dataDir)
  const { basemaps, vectors, styles } = plan === 'fill' ? await readCatalog(admin) : before
  const ours = {
    basemaps: basemaps.filter(({ source_code }) => source_code === DEMO_BASEMAPS),
    vectors: vectors.filter(({ source_code }) => source_code === DEMO_VECTORS),
    styles: styles.filter(({ source_code }) => source_code === DEMO_STYLES),
  }
  const token = await demoToken(admin, places.readUrl, places.dataDir, {
    basemapCodes: [...ours.basemaps.map(({ code }) => code), DEMO_LAYER],
    vectorCodes: ours.vectors.map(({ code }) => code),
  })
  const addresses = addressesToTry(ours, token, places)
  const image = join(places.dataDir, 'demo', 'imagery', basename(BLUE_MARBLE))
  return { ...addresses, slice: existsSync(image) ? sliceToTry(image, token, places.apiUrl) : null }
}

interface DemoCatalog {
  readonly basemaps: readonly AdminBasemap[]
  readonly vectors: readonly AdminVector[]
  readonly styles: readonly Pick<AdminStyle, 'code' | 'source_code'>[]
}

async function readCatalog(admin: AdminClient): Promise<DemoCatalog> {
  const [basemaps, vectors, styles] = await Promise.all([
    admin.get<{ items: readonly AdminBasemap[] }>('/basemaps'),
    admin.get<{ items: readonly AdminVector[] }>('/vectors'),
    admin.get<{ items: readonly AdminStyle[] }>('/styles'),
  ])
  return { basemaps: basemaps.items, vectors: vectors.items, styles: styles.items }
}

/** Returns one resource of each kind, with the token in the query, so that the URLs work wherever they are pasted. */
export function addressesToTry(
  { basemaps, vectors, styles }: DemoCatalog,
  token: string,
  { tileBaseUrl, apiUrl }: Pick<DemoPlaces, 'tileBaseUrl' | 'apiUrl'>,
): Omit<DemoAddresses, 'slice'> {
  // The basemap with the most versions is the best example.
  const basemap = basemaps.toSorted((a, b) => b.versions.length - a.versions.length)[0]
  const version = basemap?.versions.find(({ version }) => version === basemap.default_version) ?? basemap?.versions[0]
  // The template has the public URL of the last start until the control plane has corrected it.
  const template = basemap?.url_template.slice(basemap.url_template.lastIndexOf('/tiles/'))
  const withToken = (url: string | undefined) => (url === undefined ? null : `${url}?token=${token}`)
  return {
    map: basemap ? `${apiUrl}/map/#code=${encodeURIComponent(basemap.code)}&token=${token}` : null,
    tilejson: withToken(basemap && `${tileBaseUrl}/tiles/${encodeURIComponent(basemap.code)}/tilejson.json`),
    tile: withToken(
      template &&
        `${tileBaseUrl}${template
          .replace('{z}', String(version?.min_zoom ?? 0))
          .replace('{x}', '0')
          .replace('{y}', '0')}`,
    ),
    geojson: withToken(vectors.find(({ kind }) => kind === 'geojson')?.download_url),
    shapefile: withToken(vectors.find(({ kind }) => kind === 'shapefile')?.download_url),
    style: withToken(styles[0] && `${tileBaseUrl}/styles/${encodeURIComponent(styles[0].code)}/style.json`),
  }
}

/** Returns a slice job of the demo image, up to the zoom of its pixels. */
function sliceToTry(image: string, token: string, apiUrl: string): DemoAddresses['slice'] {
  const body = { target_code: DEMO_LAYER, name: 'My first layer', source_path: image, zoom_max: 4 }
  return { url: `${apiUrl}/api/v1/slice/jobs?token=${token}`, body: JSON.stringify(body) }
}
