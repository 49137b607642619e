// Draws one picture after another: asks the renderer for the next task, and sends its pixels back.
import { drawOverlay } from './overlay.js'
import { packed, pixelsOf, withoutMargin } from './pixels.js'

// The renderer serves it from its package.
const maplibre = new URL('maplibre-gl.mjs', location.href).href
const { AttributionControl, Map: MapLibre, setWorkerUrl } = await import(maplibre)

setWorkerUrl(new URL('maplibre-gl-worker.mjs', location.href).href)

/** Time in ms after which a map that waits looks whether its work has ended. */
const FRAME_MS = 100

const container = document.getElementById('map')
let map = null
let loaded = ''
let task = null
let faults = []
let paints = true
let places = true

for (;;) {
  const answer = await fetch('next')
  task = await answer.json()
  faults = []
  try {
    const pixels = await draw()
    if (faults.length > 0) throw new Error(faults[0])
    await fetch('picture', { method: 'POST', body: pixels })
  } catch (error) {
    // Tiles that failed are not requested again by the same map.
    map?.remove()
    map = null
    loaded = ''
    await fetch('failed', { method: 'POST', body: String(error?.message ?? error) })
  }
}

async function draw() {
  const { view, width, height, ratio, margin, overlay } = task
  container.style.width = `${width + 2 * margin}px`
  container.style.height = `${height + 2 * margin}px`
  if (map === null) map = newMap()
  map.resize()
  map.setPixelRatio(ratio)
  if (loaded !== task.revision) {
    map.setStyle(JSON.parse(task.style), { diff: false })
    loaded = task.revision
    placeOnce(map.style)
  }
  // Every part that arrives would paint the whole map, which takes a second without a graphics card.
  paints = false
  places = false
  map.jumpTo({ ...view, center: [...view.center], roll: 0 })
  await idle()
  // New labels take two turns, of which only the last is painted.
  places = true
  await idle()
  // Labels with several anchors keep that of the last picture, so that a picture would depend on its predecessor.
  map.style.pauseablePlacement = undefined
  map.style.placement = undefined
  paints = true
  await idle()
  if (overlay.markers.length + overlay.paths.length === 0 && !overlay.attribution) return pixelsOf(map.painter, task)
  const canvas = new OffscreenCanvas(width * ratio, height * ratio)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(map.getCanvas(), -margin * ratio, -margin * ratio)
  context.scale(ratio, ratio)
  const [center] = view.center
  const project = (at) => map.project(at)
  drawOverlay(context, { width, height, overlay, center, project, attribution: attributionOf(map) })
  return packed(new Uint8Array(context.getImageData(0, 0, width * ratio, height * ratio).data.buffer))
}

function newMap() {
  const made = new MapLibre({
    container,
    style: { version: 8, sources: {}, layers: [] },
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    maxCanvasSize: [8192, 8192],
    maxTileCacheSize: 64,
    // Glyphs are those of the gateway, whatever fonts this machine has.
    localIdeographFontFamily: false,
    // MapLibre would raise the zoom if the map is larger than the world.
    transformConstrain: (center, zoom) => ({ center, zoom }),
    minZoom: -2,
    maxPitch: 85,
    transformRequest: (url) => ({ url: atGateway(url) }),
  })
  const { painter } = made
  const paint = painter.render.bind(painter)
  painter.render = (...given) => {
    if (paints) withoutMargin(painter.context.gl, task, () => paint(...given))
  }
  made.addControl(new AttributionControl({ compact: false }))
  made.on('error', ({ error }) => {
    const status = error?.status
    // Tiles, icons and descriptions may be missing.
    if (status === 404 || status === 204) return
    faults.push(String(error?.message ?? 'a source cannot be loaded'))
  })
  return made
}

/** Places the labels of a style first, and then only when all of its parts have arrived, not for each of them. */
function placeOnce(style) {
  const place = style._updatePlacement.bind(style)
  style._updatePlacement = (...given) => (places || style.placement === undefined) && place(...given)
}

function atGateway(url) {
  const { bases, hosts } = task.loading
  const base = bases.find((one) => url.startsWith(`${one}/`))
  if (base !== undefined) return `${location.origin}${url.slice(base.length)}`
  const { protocol, origin, host } = new URL(url, location.href)
  const mayBeAsked = !/^https?:$/.test(protocol) || origin === location.origin || hosts.includes(host)
  // The renderer does not have it. The proxy would refuse it too, but MapLibre could not tell that from a failure.
  return mayBeAsked ? url : `${location.origin}/refused`
}

/**
 * Resolves in the turn in which the map has drawn everything. MapLibre looks for the end of its work only in a frame, and requests none after a tile or the
 * description of a source that is missing.
 */
function idle() {
  return new Promise((resolve, reject) => {
    const frames = setInterval(() => map.triggerRepaint(), FRAME_MS)
    const over = (settle) => (value) => {
      clearInterval(frames)
      settle(value)
    }
    window.onerror = (message) => over(reject)(new Error(String(message)))
    map.once('idle', over(resolve))
    map.triggerRepaint()
  })
}

function attributionOf(shown) {
  return shown.getContainer().querySelector('.maplibregl-ctrl-attrib-inner')?.textContent ?? ''
}
