export const GRID_PROTOCOL = 'tile-grid'

/** Twice the usual density, so that text is sharp. */
const SIZE = 512

/** Draws a transparent tile with its border and address, as PNG. `address` ends in `z/x/y`. */
export async function drawGridTile(address: string): Promise<ArrayBuffer> {
  const canvas = new OffscreenCanvas(SIZE, SIZE)
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
  const name = address.split('/').slice(-3).join('/')
  context.strokeStyle = 'rgba(255, 255, 255, 0.85)'
  context.lineWidth = 4
  context.strokeRect(0, 0, SIZE, SIZE)
  context.strokeStyle = 'rgba(10, 60, 80, 0.9)'
  context.lineWidth = 2
  context.strokeRect(0, 0, SIZE, SIZE)
  context.font = '600 26px system-ui, sans-serif'
  context.fillStyle = 'rgba(10, 50, 65, 0.82)'
  const width = context.measureText(name).width + 20
  context.fillRect(8, 8, width, 40)
  context.fillStyle = '#fff'
  context.fillText(name, 18, 37)
  return (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer()
}
