import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { type AdminVector, UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { expect, test } from 'vitest'
import { addressesToTry } from './demo.js'

const base = 'http://127.0.0.1:8910'
const at = '2026-01-01T00:00:00Z'

function basemap(code: string, versions: readonly string[]): AdminBasemap {
  return {
    code,
    name: code,
    default_version: versions.at(-1) ?? null,
    versions: versions.map((version, index) => ({
      version,
      storage: 'xyz',
      format: 'png',
      tile_size: 256,
      min_zoom: index,
      max_zoom: 5,
      bounds: null,
      tile_matrix_set: 'WebMercatorQuad',
      coordinate_offset: null,
      crs: 'EPSG:3857',
      revision: 1,
      available: true,
      withdrawn: false,
      held: false,
      rejected_reason: null,
      scanned_at: at,
      path: '/somewhere',
      overrides: {},
      scanned: {
        storage: 'xyz',
        tile_matrix_set: 'WebMercatorQuad',
        coordinate_offset: null,
        format: 'png',
        bounds: null,
        min_zoom: index,
        max_zoom: 5,
        name: null,
        attribution: null,
      },
    })),
    url_template: `${base}/tiles/${code}/current/{z}/{x}/{y}.png`,
    source_code: 'demo-basemaps',
    withdrawn: false,
    source_enabled: true,
    cache_policy: 'interface',
    s_maxage: null,
    scanned_name: code,
    description: null,
    tags: [],
    owner: null,
    created_at: at,
    updated_at: at,
  }
}

function vector(code: string, kind: 'geojson' | 'shapefile'): AdminVector {
  return {
    code,
    name: code,
    kind,
    revision: 1,
    description: null,
    tiles: {
      status: 'none',
      message: '',
      message_code: null,
      message_params: null,
      min_zoom: null,
      max_zoom: null,
      built_at: null,
      left_out: {},
    },
    tile_min_zoom: null,
    tile_max_zoom: null,
    tile_fields: null,
    relative_path: code,
    file_name: code,
    size: 1,
    modified_at: at,
    available: true,
    source_code: 'demo-vectors',
    download_url: `${base}/vectors/${code}/download`,
    ...UNKNOWN_FACTS,
    path: '/somewhere',
    withdrawn: false,
    source_enabled: true,
  }
}

const NOTHING = { basemaps: [], vectors: [], styles: [] }
const places = { tileBaseUrl: base, apiUrl: base }

test('the basemap with most versions is shown, at the lowest zoom of its default version', () => {
  const addresses = addressesToTry(
    { ...NOTHING, basemaps: [basemap('one', ['a']), basemap('two', ['a', 'b'])] },
    'bmp_x',
    places,
  )
  expect(addresses).toEqual({
    map: `${base}/map/#code=two&token=bmp_x`,
    tilejson: `${base}/tiles/two/tilejson.json?token=bmp_x`,
    tile: `${base}/tiles/two/current/1/0/0.png?token=bmp_x`,
    geojson: null,
    shapefile: null,
    style: null,
  })
})

test('the address of a tile has the port of this start, whatever the catalog still has', () => {
  const old = { ...basemap('one', ['a']), url_template: 'http://127.0.0.1:1/tiles/one/current/{z}/{x}/{y}.png' }
  const { tile } = addressesToTry({ ...NOTHING, basemaps: [old] }, 'bmp_x', places)
  expect(tile?.startsWith(`${base}/tiles/one/current/`)).toBe(true)
})

test('a GeoJSON file and a shapefile are shown', () => {
  const addresses = addressesToTry(
    { ...NOTHING, vectors: [vector('shapes', 'shapefile'), vector('shapes-2', 'geojson')] },
    'bmp_x',
    places,
  )
  expect(addresses).toEqual({
    map: null,
    tilejson: null,
    tile: null,
    geojson: `${base}/vectors/shapes-2/download?token=bmp_x`,
    shapefile: `${base}/vectors/shapes/download?token=bmp_x`,
    style: null,
  })
})

test('the style is shown as the document that map libraries take', () => {
  const styles = [{ code: 'my countries', source_code: 'demo-styles' }]
  expect(addressesToTry({ ...NOTHING, styles }, 'bmp_x', places).style).toBe(
    `${base}/styles/my%20countries/style.json?token=bmp_x`,
  )
})
