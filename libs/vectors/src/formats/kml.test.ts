import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { kmlVector } from './kml.js'
import { makeTree, type Tree } from './testing/trees.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

function read(text: string | Buffer) {
  tree.put('a.kml', text)
  const fd = fs.openSync(tree.at('a.kml'), 'r')
  try {
    const { layers, close } = kmlVector({ fd, size: fs.fstatSync(fd).size }, tree.root, () => {})
    const read = layers.map((layer) => {
      const names = layer.fields.map(({ name, type }) => `${name}:${type}`)
      const features = [...layer.features()]
      return { name: layer.name, names, values: features.map(({ values }) => values), features }
    })
    close()
    return read
  } finally {
    fs.closeSync(fd)
  }
}

const kml = (content: string) =>
  `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>${content}</Document></kml>`
const POINT = '<Point><coordinates> 10, 50,7 </coordinates></Point>'

test('a feature has its extended data, of both kinds, with the types of its schema', () => {
  const schema = '<Schema name="s"><SimpleField name="n" type="int"/><SimpleField name="on" type="bool"/></Schema>'
  const simple = (n: string, on: string) =>
    `<SchemaData schemaUrl="#s"><SimpleData name="n">${n}</SimpleData><SimpleData name="on">${on}</SimpleData><SimpleData name="code">007</SimpleData></SchemaData>`
  const [layer] = read(
    kml(
      `<name>places</name>${schema}<Placemark><name>地 1</name><description><![CDATA[<b>&</b>]]></description><ExtendedData><Data name="zip"><displayName>x</displayName><value>01569</value></Data>${simple('9007199254740993', 'true')}</ExtendedData>${POINT}</Placemark>
       <Placemark><ExtendedData>${simple('5', '0')}</ExtendedData>${POINT}</Placemark>`,
    ),
  )
  expect([layer?.name, layer?.names]).toEqual([
    'places',
    ['Name:string', 'description:string', 'zip:string', 'n:integer', 'on:boolean', 'code:string'],
  ])
  expect(layer?.values).toEqual([
    ['地 1', '<b>&</b>', '01569', 9007199254740993n, 1, '007'],
    [null, null, null, 5, 0, '007'],
  ])
})

test('a feature has the id of its placemark, and the details that the file states', () => {
  const details = '<address>Way 1</address><visibility>0</visibility><styleUrl>#s</styleUrl>'
  const line =
    '<LineString><extrude>1</extrude><altitudeMode>absolute</altitudeMode><coordinates>0,0 1,1</coordinates></LineString>'
  const [layer] = read(kml(`<Placemark id="p 1">${details}${line}</Placemark>`))
  expect(layer?.features.map(({ id }) => id)).toEqual(['p 1'])
  expect(layer?.names).toEqual(['address:string', 'visibility:integer', 'extrude:integer', 'altitudeMode:string'])
  expect(layer?.values).toEqual([['Way 1', 0, 1, 'absolute']])
})

test('each folder with features is a layer', () => {
  const place = `<Placemark>${POINT}</Placemark>`
  const text = kml(
    `<Folder><name>a</name>${place}${place}<Folder><name>b</name>${place}</Folder></Folder><Folder/>${place}`,
  )
  expect(read(text).map(({ name, features }) => [name, features.length])).toEqual([
    ['a', 2],
    ['b', 1],
    ['Layer #2', 1],
  ])
})

const ring = (size: number) => `<LinearRing><coordinates>0,0 ${size},0 ${size},${size} 0,0</coordinates></LinearRing>`
test.each([
  ['Point', POINT, 1001],
  ['LineString', '<LineString><coordinates>0,0\n1,1 2,2</coordinates></LineString>', 2],
  ['LinearRing', ring(3), 2],
  [
    'Polygon',
    `<Polygon><outerBoundaryIs>${ring(3)}</outerBoundaryIs><innerBoundaryIs>${ring(1)}</innerBoundaryIs></Polygon>`,
    3,
  ],
  ['MultiGeometry of points', `<MultiGeometry>${POINT}${POINT}</MultiGeometry>`, 1004],
  ['MultiGeometry of several kinds', `<MultiGeometry>${POINT}${ring(2)}</MultiGeometry>`, 7],
  ['track', '<gx:Track><when>x</when><gx:coord>1 2 3</gx:coord><gx:coord>2 3 4</gx:coord></gx:Track>', 1002],
  [
    'several tracks',
    '<gx:MultiTrack><gx:Track><gx:coord>1 2 3</gx:coord><gx:coord>2 3 4</gx:coord></gx:Track></gx:MultiTrack>',
    1005,
  ],
])('a geometry of the kind %s', (_, geometry, kind) => {
  const [layer] = read(kml(`<Placemark>${geometry}</Placemark>`))
  const wkb = layer?.features[0]?.geometry as Uint8Array
  expect(layer?.features[0]?.isDamaged).toBe(false)
  expect(new DataView(wkb.buffer, wkb.byteOffset).getUint32(1, true)).toBe(kind)
})

test('a document in another encoding is read in it', () => {
  const [before = '', after = ''] = kml(`<Placemark><name>N</name>${POINT}</Placemark>`)
    .replace('version="1.0"', 'version="1.0" encoding="GB2312"')
    .split('>N<')
  const bytes = Buffer.concat([Buffer.from(`${before}>`), Buffer.from('b1b1beb9', 'hex'), Buffer.from(`<${after}`)])
  expect(read(bytes)[0]?.values).toEqual([['北竟']])
})

test.each([
  ['ends in the middle', kml(`<Placemark>${POINT}</Placemark>`).slice(0, -20)],
  ['closes another element', kml('<Placemark></Folder></Placemark>')],
])('a document that %s is damaged', (_, text) => {
  expect(() => read(text)).toThrow()
})
