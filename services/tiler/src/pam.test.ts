import { describe, expect, it } from 'vitest'
import { readPam } from './pam.js'

const WKT = 'GEOGCS["WGS 84",PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
const ESCAPED = WKT.replaceAll('"', '&quot;')

const xmlOf = (content: string) => {
  const pam = readPam(content)
  return pam.ok ? pam.xml.replaceAll('\n', '') : pam.reason
}

describe('what is taken from an .aux.xml', () => {
  it('places an image by a system and a transform', () => {
    const text = `<PAMDataset><SRS dataAxisToSRSAxisMapping="2,1">${WKT}</SRS><GeoTransform> 1e+1, .1, 0, 50, 0, -.1</GeoTransform></PAMDataset>`
    expect(xmlOf(text)).toBe(
      `<PAMDataset><SRS dataAxisToSRSAxisMapping="2,1">${ESCAPED}</SRS><GeoTransform>10,0.1,0,50,0,-0.1</GeoTransform></PAMDataset>`,
    )
  })

  it('places an image by ground control points', () => {
    const gcp = '<GCP Id="" Pixel="1.5" Line="2" X="1.1E+02" Y="40"/>'
    expect(xmlOf(`<PAMDataset><GCPList Projection="${ESCAPED}">${gcp}</GCPList></PAMDataset>`)).toBe(
      `<PAMDataset><GCPList Projection="${ESCAPED}"><GCP Id="0" Pixel="1.5" Line="2" X="110" Y="40"/></GCPList></PAMDataset>`,
    )
  })

  it.each(['-9999', 'nan', '-1.#IND', '1.79769313486232e+308', '-inf'])('declares %s as nodata', (value) => {
    const band = `<PAMRasterBand band="1"><NoDataValue le_hex_equiv="0000000000C0">${value}</NoDataValue></PAMRasterBand>`
    expect(xmlOf(`<PAMDataset>${band}<Other/></PAMDataset>`)).toBe(`<PAMDataset>${band}</PAMDataset>`)
  })

  const xform = (content: string) =>
    `<GeodataXform xsi:type="typens:PolynomialXform"><SpatialReference><WKT>${WKT}</WKT></SpatialReference>${content}</GeodataXform>`
  const doubles = (name: string, values: number[]) =>
    `<${name}>${values.map((value) => `<Double>${value}</Double>`).join('')}</${name}>`
  const points = doubles('SourceGCPs', [0, -0, 100, -80]) + doubles('TargetGCPs', [20, 50, 30, 42])
  const inMetadata = (content: string) => `<PAMDataset><Metadata domain="xml:ESRI">${content}</Metadata></PAMDataset>`

  it.each([
    ['the root', (content: string) => content],
    ['metadata', inMetadata],
  ])("places an image by ArcGIS's points in %s, whose lines count upwards", (_, wrap) => {
    const xml = xmlOf(wrap(xform(points)))
    expect(xml).toContain('<GCP Id="1" Pixel="100" Line="80" X="30" Y="42"/>')
    expect(xml).toContain(`<SRS>${ESCAPED}</SRS>`)
  })

  it("places an image by ArcGIS's polynomial of the first order", () => {
    const coefficients = doubles('CoeffX', [20, 0.1, 0]) + doubles('CoeffY', [50, 0, 0.1])
    expect(xmlOf(inMetadata(xform(coefficients)))).toContain('<GeoTransform>20,0.1,0,50,0,-0.1</GeoTransform>')
  })

  it("prefers GDAL's own system to ArcGIS's transform", () => {
    const text = inMetadata(xform(points)).replace('<Metadata', '<SRS>EPSG:3857</SRS><Metadata')
    expect(xmlOf(text)).toBe('<PAMDataset><SRS>EPSG:3857</SRS></PAMDataset>')
  })
})

describe('what is not taken from an .aux.xml', () => {
  it.each([
    ['overviews of another file', '<Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">/etc/a.tif</MDI></Metadata>'],
    ['pixels of another file', '<SourceFilename>/etc/a.tif</SourceFilename><VRTRasterBand/>'],
    ['an element inside a number', '<PAMRasterBand band="1"><NoDataValue>1<a/></NoDataValue></PAMRasterBand>'],
    ['a transform of five numbers', '<GeoTransform>1,2,3,4,5</GeoTransform>'],
  ])('%s', (_, content) => expect(xmlOf(`<PAMDataset>${content}</PAMDataset>`)).not.toMatch(/etc|SourceF|<a|<Geo/))

  it.each([
    ['malformed', '<PAMDataset><SRS>'],
    ['malformed', '<VRTDataset/>'],
    ['malformed', '<!DOCTYPE a [<!ENTITY b "c">]><PAMDataset/>'],
    ['malformed', ''],
    ['system', '<PAMDataset><SRS>/etc/passwd</SRS></PAMDataset>'],
    ['system', '<PAMDataset><SRS>http://host/crs</SRS></PAMDataset>'],
    [
      'system',
      '<PAMDataset><GCPList Projection="+proj=longlat +nadgrids=a.gsb"><GCP Pixel="1" Line="1" X="1" Y="1"/></GCPList></PAMDataset>',
    ],
  ])('%s: %s', (reason, text) => expect(xmlOf(text)).toBe(reason))
})
