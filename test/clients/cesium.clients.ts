import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { type Library, PAGE, useClientPages } from './pages.js'
import { CITIES, coloursAt, IN_PLACE, makeWorld } from './world.js'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))

/** Installed by `run.mjs`. */
const CESIUM: Library = {
  files: fileURLToPath(new URL('../../node_modules/.cache/clients/node_modules/cesium/Build/Cesium/', import.meta.url)),
  page: `${PAGE}<script>window.CESIUM_BASE_URL = './'</script><script src="Cesium.js"></script>
<link rel="stylesheet" href="Widgets/widgets.css"><script>
const providers = {
  kvp: ({ base, token, code, set, tilingScheme }) => new Cesium.WebMapTileServiceImageryProvider({
    url: base + '/wmts?token=' + token, layer: code, style: 'default', format: 'image/png', tileMatrixSetID: set, tilingScheme, maximumLevel: 2,
  }),
  rest: ({ base, token, code, set, tilingScheme }) => new Cesium.WebMapTileServiceImageryProvider({
    url: base + '/tiles/' + code + '/current/{TileMatrix}/{TileCol}/{TileRow}.png?token=' + token,
    layer: code, style: 'default', format: 'image/png', tileMatrixSetID: set, tilingScheme, maximumLevel: 2,
  }),
  // Tianditu counts its matrices from 1: the first one has four tiles in Web Mercator, and two in longitude and latitude.
  tianditu: ({ base, token, code, set, tilingScheme }) => new Cesium.WebMapTileServiceImageryProvider({
    url: base + '/tianditu/' + code + '_' + set + '/wmts?tk=' + token, layer: code, style: 'default', format: 'tiles', tileMatrixSetID: set, tilingScheme,
    maximumLevel: 2, ...(set === 'w' ? { minimumLevel: 1 } : { tileMatrixLabels: ['1', '2', '3'] }),
  }),
  tms: ({ base, token, code }) => Cesium.TileMapServiceImageryProvider.fromUrl(
    new Cesium.Resource({ url: base + '/tms/1.0.0/' + code, queryParameters: { token } })),
}
async function draw(spec) {
  const tilingScheme = ['WebMercatorQuad', 'w'].includes(spec.set) ? new Cesium.WebMercatorTilingScheme() : new Cesium.GeographicTilingScheme()
  const provider = await providers[spec.by]({ ...spec, tilingScheme })
  const { scene, camera } = new Cesium.CesiumWidget('map', {
    baseLayer: new Cesium.ImageryLayer(provider), sceneMode: Cesium.SceneMode.SCENE2D, creditContainer: document.createElement('div'),
    // Disables effects that are slow without a graphics card and do not matter for tiles.
    skyBox: false, skyAtmosphere: false, msaaSamples: 1, orderIndependentTranslucency: false,
    contextOptions: { webgl: { preserveDrawingBuffer: true } },
  })
  camera.setView({ destination: Cesium.Rectangle.fromDegrees(-180, -90, 180, 90) })
  // The first frames come before anything is loaded.
  let frames = 0
  await new Promise((resolve) => scene.postRender.addEventListener(() => {
    frames = scene.globe.tilesLoaded ? frames + 1 : 0
    if (frames > 5) resolve()
  }))
  return Object.fromEntries(Object.entries(spec.cities).map(([name, { lon, lat }]) => {
    const { x, y } = Cesium.SceneTransforms.worldToWindowCoordinates(scene, Cesium.Cartesian3.fromDegrees(lon, lat))
    return [name, [x, y]]
  }))
}
</script>`,
}

/** Timeout for drawing without a graphics card. */
const SLOWLY_DRAWN_MS = 120_000

let token: string
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  token = (await started.issueToken({ basemap_codes: ['*'] })).token
  await makeWorld(started)
})
const open = useClientPages({ cesium: CESIUM })

test.each([
  ['kvp', 'mercator', 'WebMercatorQuad'],
  ['kvp', 'geodetic', 'WorldCRS84Quad'],
  ['kvp', 'mb4490', 'CGCS2000Quad'],
  ['rest', 'mercator', 'WebMercatorQuad'],
  ['rest', 'mb4326', 'WorldCRS84Quad'],
  ['tianditu', 'mercator', 'w'],
  ['tianditu', 'mb4490', 'c'],
  ['tms', 'mercator', 'WebMercatorQuad'],
  ['tms', 'geodetic', 'WorldCRS84Quad'],
])(
  'Cesium by %s shows every city of %s in its place',
  async (by, code, set) => {
    const cesium = await open('cesium')
    const places = await cesium.draw({ base: gateway().url, token, cities: CITIES, by, code, set })
    const picture = await cesium.picture()
    await writeFile(join(ARTIFACTS, `cesium-${by}-${code}.png`), picture)
    await cesium.page.close()
    expect(await coloursAt(picture, places)).toEqual(IN_PLACE)
  },
  SLOWLY_DRAWN_MS,
)
