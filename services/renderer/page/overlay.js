// Draws paths, markers and the attribution on a picture of a map. Lengths are points.

const PATH = { colour: '#d6336c', width: 4 }
const PIN = { radius: 9, height: 26, label: 'bold 11px "Noto Sans", sans-serif' }
const ATTRIBUTION = { font: '11px "Noto Sans", "Noto Sans CJK SC", sans-serif', height: 18, inset: 5 }

/**
 * @param context of the picture
 * @param picture `project` returns the place of a coordinate in the map, whose margin is cut off
 */
export function drawOverlay(context, { width, height, overlay, project, attribution }) {
  context.lineJoin = 'round'
  context.lineCap = 'round'
  for (const path of overlay.paths) drawPath(context, path.map(project))
  for (const marker of overlay.markers) drawPin(context, project(marker.at), marker)
  if (overlay.attribution && attribution !== '') writeAttribution(context, width, height, attribution)
}

function drawPath(context, points) {
  for (const [colour, lineWidth] of [
    ['#ffffff', PATH.width + 2],
    [PATH.colour, PATH.width],
  ]) {
    context.beginPath()
    for (const { x, y } of points) context.lineTo(x, y)
    context.strokeStyle = colour
    context.lineWidth = lineWidth
    context.stroke()
  }
}

/** The tip of a pin is at its place. */
function drawPin(context, { x, y }, { colour, label }) {
  const { radius, height } = PIN
  const centre = y - height + radius
  context.beginPath()
  context.moveTo(x, y)
  context.arc(x, centre, radius, Math.PI * 0.85, Math.PI * 0.15)
  context.closePath()
  context.fillStyle = colour
  context.strokeStyle = '#ffffff'
  context.lineWidth = 1.5
  context.fill()
  context.stroke()
  context.fillStyle = '#ffffff'
  if (label === '') {
    context.beginPath()
    context.arc(x, centre, radius / 2.5, 0, 2 * Math.PI)
    return context.fill()
  }
  context.font = PIN.label
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(label, x, centre + 0.5, radius * 1.8)
}

function writeAttribution(context, width, height, text) {
  context.font = ATTRIBUTION.font
  const room = width - 2 * ATTRIBUTION.inset
  const length = Math.min(room, context.measureText(text).width)
  context.fillStyle = 'rgba(255, 255, 255, 0.7)'
  const box = length + 2 * ATTRIBUTION.inset
  context.fillRect(width - box, height - ATTRIBUTION.height, box, ATTRIBUTION.height)
  context.fillStyle = '#333333'
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  context.fillText(text, width - ATTRIBUTION.inset, height - ATTRIBUTION.height / 2, room)
}
