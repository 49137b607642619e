import type { StyleSpecification } from 'maplibre-gl'
import type { StyleDocument } from '../api/styles.js'
import { MapLibre } from './library.js'
import { styleRequests } from './style-requests.js'

/** Pixels of a side, and milliseconds of waiting for the parts of a style. */
const SIDE = 96
const WITHIN_MS = 10_000

/** Browsers keep few WebGL contexts, so pictures are drawn one after the other. */
let last: Promise<unknown> = Promise.resolve()

/** Draws a small picture of a style at its initial camera. null: it cannot be drawn here. */
export function drawStyle(style: StyleDocument, token: string): Promise<Blob | null> {
  const drawn = last.then(() => draw(style, token).catch(() => null))
  last = drawn
  return drawn
}

async function draw({ document: style, bases }: StyleDocument, token: string): Promise<Blob | null> {
  const container = document.createElement('div')
  Object.assign(container.style, { position: 'fixed', left: '-1000px', width: `${SIDE}px`, height: `${SIDE}px` })
  document.body.append(container)
  const map = new MapLibre({
    container,
    style: style as unknown as StyleSpecification,
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    pixelRatio: 1,
    localIdeographFontFamily: false,
    canvasContextAttributes: { preserveDrawingBuffer: true },
    transformRequest: styleRequests(bases, () => token),
  })
  try {
    map.on('error', () => {})
    await new Promise<void>((resolve) => {
      map.once('idle', () => resolve())
      setTimeout(resolve, WITHIN_MS)
    })
    return await new Promise((resolve) => map.getCanvas().toBlob(resolve))
  } finally {
    map.remove()
    container.remove()
  }
}
