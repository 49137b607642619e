import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readUpload, slotOf, type Upload } from './upload.js'

const WORLD = { kind: 'basemap', code: 'world', version: 'v1', name: null } as const
const LAKES = { kind: 'vector', relativePath: 'water/lakes.shp' } as const

const basemapEvent = (record: object) =>
  JSON.stringify({ event: 'basemap.version.pushed', record, basemap: { name: 'World' } })
const vectorEvent = (relative_path: string) => JSON.stringify({ event: 'vector.pushed', vector: { relative_path } })

test('the events of a gateway announce the content', () => {
  expect(readUpload(basemapEvent({ basemap_code: 'world', version: 'v1', id: 'x' }))).toEqual({
    ...WORLD,
    name: 'World',
  })
  expect(readUpload(vectorEvent('water/lakes.shp'))).toEqual(LAKES)
  for (const name of ['a.GPKG', 'a.fgb'])
    expect(readUpload(vectorEvent(name))).toEqual({ kind: 'vector', relativePath: name })
  expect(readUpload('{"event":"target.test"}')).toEqual({ kind: 'test' })
})

test.each([
  'not json',
  '[]',
  '{"event":"tile.job.finished"}',
  basemapEvent({ basemap_code: '../etc', version: 'v1' }),
  basemapEvent({ basemap_code: '.hidden', version: 'v1' }),
  basemapEvent({ basemap_code: 'a', version: '..' }),
  basemapEvent({ basemap_code: 'a', version: 'current' }),
  basemapEvent({ basemap_code: 'a', version: 'x\0' }),
  vectorEvent('/etc/passwd.json'),
  vectorEvent('../x.shp'),
  vectorEvent('a//b.shp'),
  vectorEvent('a\\b.shp'),
  vectorEvent('.hidden/x.shp'),
  vectorEvent('notes.txt'),
  vectorEvent(`${'a/'.repeat(40)}x.shp`),
])('%s is refused', (json) => {
  expect(readUpload(json)).toHaveProperty('params')
})

describe('an archive entry', () => {
  test.each([
    [WORLD, 'world/v1/0/0/0.png', 'folder', '0/0/0.png'],
    [WORLD, 'world/v1/14/16383/16383.mvt', 'folder', '14/16383/16383.mvt'],
    [WORLD, 'world/v1/metadata.json', 'folder', 'metadata.json'],
    [WORLD, 'world/v1.pmtiles', 'files', 'v1.pmtiles'],
    [LAKES, 'water/lakes.shp', 'files', 'lakes.shp'],
    [LAKES, 'water/lakes.shp.xml', 'files', 'lakes.shp.xml'],
    [LAKES, 'water/lakes.DBF', 'files', 'lakes.DBF'],
  ] as [Exclude<Upload, { kind: 'test' }>, string, string, string][])(
    'of %j named %s has its place',
    (upload, entry, kind, name) => {
      expect(slotOf(upload, entry)).toMatchObject({ kind, name })
    },
  )

  test.each([
    [WORLD, 'world/v1/0/0/1.png'],
    [WORLD, 'world/v1/1/2/0.png'],
    [WORLD, 'world/v1/31/0/0.png'],
    [WORLD, 'world/v1/0/0/0.php'],
    [WORLD, 'world/v1/00/0/0.png'],
    [WORLD, 'world/v1/0/0/0'],
    [WORLD, 'world/v1/0/0/../0.png'],
    [WORLD, 'world/v1/../v2/0/0/0.png'],
    [WORLD, 'world/v2/0/0/0.png'],
    [WORLD, 'world/v2.mbtiles'],
    [WORLD, 'world/v1/v1.mbtiles'],
    [WORLD, '/world/v1/0/0/0.png'],
    [WORLD, 'world/v1/.htaccess'],
    [LAKES, 'lakes.shp'],
    [LAKES, 'water/other.shp'],
    [LAKES, 'water/lakes.exe'],
    [LAKES, 'water/../lakes.shp'],
    [LAKES, 'water/lakes.shp/x'],
    [{ kind: 'vector', relativePath: 'a.geojson' }, 'a.shp'],
  ] as [Exclude<Upload, { kind: 'test' }>, string][])('of %j named %s has none', (upload, entry) => {
    expect(slotOf(upload, entry)).toBeNull()
  })

  test('never has a path outside of the staging folder', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(WORLD, LAKES),
        fc.array(fc.constantFrom('..', '.', '', '0', '1', 'a.png', '0.png', 'lakes.shp')),
        (upload, parts) => {
          const prefix = upload.kind === 'basemap' ? 'world/v1' : 'water'
          const slot = slotOf(upload, [prefix, ...parts].join('/'))
          if (slot !== null) expect(slot.name.split('/')).not.toContain('..')
        },
      ),
    )
  })
})
