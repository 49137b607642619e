/** Colours that differ next to each other, on a light background. */
const COLOURS = ['#178c9c', '#c2571a', '#5f3dc4', '#2b8a3e', '#c2255c', '#1864ab', '#846a00', '#862e9c']

/** Returns the colour of the nth layer of vector tiles. */
export function colourOf(n) {
  return COLOURS[n % COLOURS.length]
}

function isTerrain({ encoding }) {
  return encoding === 'terrarium' || encoding === 'mapbox'
}

export function isVector({ format, vector_layers: layers }) {
  return format === 'pbf' || format === 'mlt' || (format === undefined && layers !== undefined)
}

/** Returns a set of tiles as a source of MapLibre. */
export function sourceOf(set) {
  const { tiles, minzoom, maxzoom, attribution, tileSize, encoding } = set
  if (set.geojson !== undefined) return { type: 'geojson', data: set.geojson }
  const common = { tiles, minzoom, maxzoom, attribution, ...boundsOf(set) }
  if (isVector(set)) return { ...common, type: 'vector' }
  return isTerrain(set)
    ? { ...common, type: 'raster-dem', tileSize, encoding }
    : { ...common, type: 'raster', tileSize }
}

/** Returns no bounds for a set across the antimeridian (west above east), because MapLibre would request no tile of it. */
export function boundsOf({ bounds }) {
  return bounds?.[0] < bounds?.[2] ? { bounds } : {}
}

/**
 * Returns the layers that draw a set.
 * @param source its name on the map
 * @param first number of vector layers that the map already has
 */
export function layersOf(set, source, first) {
  if (set.geojson !== undefined) return layersOfVector(source, null, first)
  if (isVector(set)) return (set.vector_layers ?? []).flatMap(({ id }, i) => layersOfVector(source, id, first + i))
  return [{ id: source, source, type: isTerrain(set) ? 'hillshade' : 'raster' }]
}

/** @param id null: GeoJSON has no layers */
function layersOfVector(source, id, n) {
  const colour = colourOf(n)
  const layer = (type, geometry, paint) => ({
    id: `${source} ${id ?? ''} ${type}`,
    type,
    source,
    ...(id !== null && { 'source-layer': id }),
    filter: ['==', ['geometry-type'], geometry],
    paint,
  })
  return [
    layer('fill', 'Polygon', { 'fill-color': colour, 'fill-opacity': 0.25, 'fill-outline-color': colour }),
    layer('line', 'LineString', { 'line-color': colour }),
    layer('circle', 'Point', { 'circle-color': colour, 'circle-radius': 3 }),
  ]
}
