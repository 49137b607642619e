import 'maplibre-gl/dist/maplibre-gl.css'
import { addProtocol, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { drawGridTile, GRID_PROTOCOL } from './grid-tile.js'

// What runs beside the page is a file of this origin, as the content security policy demands.
setWorkerUrl(workerUrl)
addProtocol(GRID_PROTOCOL, async ({ url }) => ({ data: await drawGridTile(url) }))

export { LngLatBounds, Map as MapLibre, NavigationControl, ScaleControl } from 'maplibre-gl'
