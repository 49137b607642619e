import { expect, it } from 'vitest'
import { boundsOfView } from './square.js'
import { parseStatic, type StaticRequest } from './static-request.js'

const read = (where: string, file = '600x400.png', query = '') => parseStatic(where, file, query)
const readOk = (...asked: Parameters<typeof read>) => read(...asked) as StaticRequest

it('a view has a centre and a zoom, and a bearing and a pitch if needed', () => {
  expect(readOk('13.4,52.5,11.5').view).toEqual({ center: [13.4, 52.5], zoom: 11.5, bearing: 0, pitch: 0 })
  expect(readOk('13.4,52.5,11,-30,60').view).toEqual({ center: [13.4, 52.5], zoom: 11, bearing: -30, pitch: 60 })
  expect(readOk('13.4,52.5,11,30').view.bearing).toBe(30)
  expect(readOk('0,0,1', '600x400@2x.webp')).toMatchObject({ width: 600, height: 400, ratio: 2, format: 'webp' })
})

it('a box just fits into the picture', () => {
  const asked = readOk('10,50,14,52', '500x500.png')
  const [west, south, east, north] = boundsOfView(asked.view, asked) as [number, number, number, number]
  expect([west, east]).toEqual([expect.closeTo(10, 6), expect.closeTo(14, 6)])
  expect(south).toBeLessThan(50)
  expect(north).toBeGreaterThan(52)
})

it('a box over the 180th meridian has its centre there', () => {
  expect(readOk('170,-20,-170,-10').view.center[0]).toBeCloseTo(180, 6)
})

it('a box of the whole world may reach the poles', () => {
  expect(readOk('-180,-90,180,90', '512x512.png').view).toMatchObject({ center: [0, expect.closeTo(0, 6)], zoom: 0 })
})

it.each([
  ['marker=179,0&marker=-177,0', 181],
  ['path=170,0|-170,0&marker=150,0', 170],
  ['marker=-100,0&marker=100,0', 180],
  ['marker=-80,0&marker=80,0', 0],
  ['marker=-100,0&marker=-40,0', -70],
])('auto shows %s on the short side of the world', (query, longitude) => {
  expect(readOk('auto', '400x300.png', query).view.center[0]).toBeCloseTo(longitude, 6)
})

it('auto fits markers and paths, with room for the pins', () => {
  const asked = readOk('auto', '400x300.png', 'marker=13.4,52.5,red,B&marker=2.3,48.9&path=0,51.5|-3,55')
  const [west, south, east, north] = boundsOfView(asked.view, asked) as [number, number, number, number]
  expect(west).toBeLessThan(-3)
  expect(south).toBeLessThan(48.9)
  expect(east).toBeGreaterThan(13.4)
  expect(north).toBeGreaterThan(55)
  expect(asked.overlay.markers).toEqual([
    { at: [13.4, 52.5], colour: 'red', label: 'B' },
    { at: [2.3, 48.9], colour: '#d6336c', label: '' },
  ])
  expect(readOk('auto', '400x300.png', 'marker=13.4,52.5').view.zoom).toBe(16)
})

it('a label may have several words and a comma', () => {
  const { overlay } = readOk('0,0,1', '1x1.png', 'marker=0,0,,Berlin,%20Mitte')
  expect(overlay.markers).toEqual([{ at: [0, 0], colour: '#d6336c', label: 'Berlin, Mitte' }])
})

it('the attribution is drawn unless the query says that it is not', () => {
  expect(readOk('0,0,1').overlay.attribution).toBe(true)
  expect(readOk('0,0,1', '1x1.png', 'attribution=false').overlay.attribution).toBe(false)
})

it.each([
  ['0,0,1', '600x400.gif', '', 'address'],
  ['0,0,1', 'x400.png', '', 'address'],
  ['0,0,1', '0x400.png', '', 'size'],
  ['0,0,1', '2049x400.png', '', 'size'],
  ['0,0', '1x1.png', '', 'view'],
  ['0,0,23', '1x1.png', '', 'view'],
  ['0,91,3', '1x1.png', '', 'view'],
  ['0,0,1e3', '1x1.png', '', 'view'],
  ['0,0,3,0,90', '1x1.png', '', 'view'],
  ['auto', '1x1.png', '', 'auto'],
  ['0,0,1', '1x1.png', 'marker=0', 'overlay'],
  ['0,0,1', '1x1.png', 'marker=0,0,url(x)', 'overlay'],
  ['0,0,1', '1x1.png', 'marker=0,0,nocolour', 'overlay'],
  ['0,0,1', '1x1.png', `marker=0,0,red,${'x'.repeat(41)}`, 'overlay'],
  ['0,0,1', '1x1.png', 'path=0,0', 'overlay'],
])('%s as %s with %s is refused for its %s', (where, file, query, fault) => {
  expect(read(where, file, query)).toEqual({ fault })
})
