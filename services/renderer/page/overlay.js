// Draws paths, markers and the attribution on a picture of a map. Lengths are points.

const PATH = { colour: '#d6336c', width: 4 }
/** A longer label than `inside` characters is written to the right of the pin. */
const PIN = { radius: 9, height: 26, inside: 3, label: 'bold 11px "Noto Sans", "Noto Sans CJK SC", sans-serif' }
const LABEL = { font: 'bold 13px "Noto Sans", "Noto Sans CJK SC", sans-serif', inset: 4, halo: 3 }
const ATTRIBUTION = { font: '11px "Noto Sans", "Noto Sans CJK SC", sans-serif', height: 18, inset: 5 }

/**
 * @param context of the picture
 * @param picture `project` returns the place of a coordinate in the map, whose margin is cut off; `center` is the longitude of its centre
 */
export function drawOverlay(context, { width, height, overlay, center, project, attribution }) {
  context.lineJoin = 'round'
  context.lineCap = 'round'
  for (const path of overlay.paths) drawPath(context, unbroken(path, center).map(project))
  for (const marker of overlay.markers) drawPin(context, project(near(marker.at, center)), marker, width)
  if (overlay.attribution && attribution !== '') writeAttribution(context, width, height, attribution)
}

/** Returns a place in the world that is the nearest to a longitude. */
function near([longitude, latitude], to) {
  return [longitude + 360 * Math.round((to - longitude) / 360), latitude]
}

/** Returns the places of a path, whose parts take the short way over the 180th meridian. */
function unbroken(path, center) {
  let before = center
  return path.map((place) => {
    const moved = near(place, before)
    before = moved[0]
    return moved
  })
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
function drawPin(context, { x, y }, { colour, label }, width) {
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
  const isInside = [...label].length <= PIN.inside
  if (label === '' || !isInside) {
    context.beginPath()
    context.arc(x, centre, radius / 2.5, 0, 2 * Math.PI)
    context.fill()
  }
  if (!isInside) return writeLabel(context, { x, y: centre }, label, width)
  context.font = PIN.label
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(label, x, centre + 0.5, radius * 1.8)
}

/** Writes a label to the right of the pin, or to the left if the picture ends there. */
function writeLabel(context, { x, y: centre }, label, width) {
  context.font = LABEL.font
  const offset = PIN.radius + LABEL.inset
  const isRight = x + offset + context.measureText(label).width <= width
  context.textAlign = isRight ? 'left' : 'right'
  context.textBaseline = 'middle'
  context.strokeStyle = '#ffffff'
  context.lineWidth = LABEL.halo
  const at = isRight ? x + offset : x - offset
  context.strokeText(label, at, centre)
  context.fillStyle = '#222222'
  context.fillText(label, at, centre)
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
