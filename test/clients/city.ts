/** A made-up part of Nanjing: streets and places with Chinese and English names, and houses between them. */
export const CENTRE = [118.78, 32.06] as const

const STREETS = '中山珠江北京太平汉口上海广州长白解放瑞金洪武洪家御道明故宫龙蟠'
const ENDS = [
  '学校 School',
  '医院 Hospital',
  '公园 Park',
  '银行 Bank',
  '酒店 Hotel',
  '图书馆 Library',
  '博物馆 Museum',
  '广场 Square',
  '小区 Quarter',
  '车站 Station',
]
/** Streets in each direction, houses in each row and column, and places. */
const [STREET_COUNT, HOUSE_COUNT, PLACE_COUNT] = [16, 60, 250]

type Place = readonly [x: number, y: number]
const at = ([x, y]: Place) => [CENTRE[0] + x * 0.001, CENTRE[1] + y * 0.001]
const feature = (name: string | null, type: string, coordinates: unknown) => ({
  type: 'Feature',
  properties: name === null ? {} : { name },
  geometry: { type, coordinates },
})

/** GeoJSON by the code of its vector. */
export function cityData(): Readonly<Record<'roads' | 'houses' | 'places', string>> {
  const named = (i: number) => STREETS.slice((i * 2) % STREETS.length).slice(0, 2)
  const roads = Array.from({ length: STREET_COUNT }, (_, i) => [
    feature(`${named(i)}路 Road ${i + 1}`, 'LineString', [at([-20, i * 2 - 16]), at([20, i * 2 - 16])]),
    feature(`${named(i + 3)}街 Street ${i + 1}`, 'LineString', [at([i * 2.5 - 20, -16]), at([i * 2.5 - 20, 16])]),
  ]).flat()
  const houses = Array.from({ length: HOUSE_COUNT ** 2 }, (_, i) => {
    const [x, y] = [(i % HOUSE_COUNT) * 0.6 - 18, Math.floor(i / HOUSE_COUNT) * 0.5 - 15]
    const [w, h] = [0.25 + ((i * 7) % 11) / 50, 0.2 + ((i * 5) % 7) / 40]
    const ring: readonly Place[] = [
      [x, y],
      [x + w, y],
      [x + w, y + h],
      [x, y + h],
      [x, y],
    ]
    return feature(null, 'Polygon', [ring.map(at)])
  })
  const places = Array.from({ length: PLACE_COUNT }, (_, i) => {
    const place: Place = [((i * 37) % 360) / 10 - 18, ((i * 53) % 300) / 10 - 15]
    return feature(`${named(i)}${ENDS[i % ENDS.length]}`, 'Point', at(place))
  })
  const collection = (features: readonly object[]) => JSON.stringify({ type: 'FeatureCollection', features })
  return { roads: collection(roads), houses: collection(houses), places: collection(places) }
}

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" width="12" height="12"><circle cx="6" cy="6" r="5" fill="#c2543d" stroke="#fff"/></svg>'

const tiles = (code: string) => ({ type: 'vector', url: `gateway://vectors/${code}` })
const label = { 'text-field': ['get', 'name'], 'text-font': ['Noto Sans Regular'] }

/** Vector tiles, labels, and an icon. */
export const CITY_STYLE = {
  version: 8,
  name: '南京',
  center: CENTRE,
  zoom: 14.5,
  glyphs: 'gateway://fonts',
  sprite: 'gateway://sprites/city',
  sources: { roads: tiles('roads'), houses: tiles('houses'), places: tiles('places') },
  layers: [
    { id: 'ground', type: 'background', paint: { 'background-color': '#f4f2ee' } },
    { id: 'houses', type: 'fill', source: 'houses', 'source-layer': 'houses', paint: { 'fill-color': '#d9cfc0' } },
    {
      id: 'roads',
      type: 'line',
      source: 'roads',
      'source-layer': 'roads',
      paint: { 'line-color': '#ffffff', 'line-width': 6 },
    },
    {
      id: 'road names',
      type: 'symbol',
      source: 'roads',
      'source-layer': 'roads',
      layout: { ...label, 'symbol-placement': 'line', 'text-size': 12 },
      paint: { 'text-color': '#4a5568' },
    },
    {
      id: 'places',
      type: 'symbol',
      source: 'places',
      'source-layer': 'places',
      layout: { ...label, 'icon-image': 'place', 'text-size': 13, 'text-anchor': 'top', 'text-offset': [0, 0.6] },
      paint: { 'text-color': '#1f2933', 'text-halo-color': '#ffffff', 'text-halo-width': 1.2 },
    },
  ],
}
