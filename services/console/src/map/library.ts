import 'maplibre-gl/dist/maplibre-gl.css'
import { addProjection, addProtocol, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { GEOGRAPHIC } from './geographic.js'
import { drawGridTile, GRID_PROTOCOL } from './grid-tile.js'

// The worker is a file of this origin, as the content security policy requires.
setWorkerUrl(workerUrl)
addProjection(GEOGRAPHIC)
addProtocol(GRID_PROTOCOL, async ({ url }) => ({ data: await drawGridTile(url) }))

export { Map as MapLibre, NavigationControl, ScaleControl } from 'maplibre-gl'
