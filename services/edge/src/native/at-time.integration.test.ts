import { expect, test } from 'vitest'
import { ask, askUntilTable, BODIES, TARGETS, usePublishingEdge, withToken } from '../testing/publishing-edge.js'

const [APRIL, JUNE, BEFORE] = ['2026-04-01T00:00:00Z', '2026-06-01T00:00:00Z', '2025-12-31T00:00:00Z']
const UNFIXED = TARGETS.slice(1)
const WMTS =
  '/wmts?SERVICE=WMTS&REQUEST=GetTile&LAYER=alps&STYLE=default&TILEMATRIXSET=WebMercatorQuad&FORMAT=image/png&TILEMATRIX=0&TILEROW=0&TILECOL=0'

usePublishingEdge()

const versionOf = ({ body }: { body: Buffer }) =>
  body.equals(BODIES.v1) ? 'v1' : body.equals(BODIES.v2) ? 'v2' : 'neither'

test('at serves the default version of that time, regardless of the native tier', async () => {
  for (const target of UNFIXED) await askUntilTable(target)
  for (const target of UNFIXED) {
    for (let round = 0; round < 3; round++) {
      expect(versionOf(await ask(`${target}?at=${APRIL}`, withToken()))).toBe('v1')
      expect(versionOf(await ask(`${target}?v=1&at=${JUNE}`, withToken()))).toBe('v2')
      expect((await ask(`${target}?at=${BEFORE}`, withToken())).status).toBe(404)
      expect((await ask(`${target}?at=yesterday`, withToken())).status).toBe(400)
      expect((await ask(`${target}?at=${APRIL}`)).status).toBe(401)
    }
  }
})

test('a fixed version is the same at any time', async () => {
  expect(versionOf(await ask(`/tiles/alps/v1/0/0/0.png?at=${JUNE}`, withToken()))).toBe('v1')
})

test('TIME of a WMTS uses the same history, and capabilities list it', async () => {
  await ask(WMTS, withToken())
  for (let round = 0; round < 3; round++) {
    expect(versionOf(await ask(`${WMTS}&TIME=${APRIL}`, withToken()))).toBe('v1')
    expect(versionOf(await ask(`${WMTS}&time=${JUNE}/2026-07-01T00:00:00Z`, withToken()))).toBe('v2')
    expect(versionOf(await ask(`${WMTS}&Time=current`, withToken()))).toBe('v1')
  }
  const gone = await ask(`${WMTS}&TIME=${BEFORE}`, withToken())
  expect([gone.status, gone.body.toString()]).toEqual([404, expect.stringContaining('ExceptionReport')])
  const wrong = await ask(`${WMTS}&TIME=soon`, withToken())
  expect([wrong.status, wrong.body.toString()]).toEqual([400, expect.stringContaining('locator="Time"')])
  const capabilities = (await ask('/wmts?SERVICE=WMTS&REQUEST=GetCapabilities', withToken())).body.toString()
  const [dimension] = /<Dimension>.*?<\/Dimension>/s.exec(capabilities) ?? []
  expect(dimension).toContain('<Value>2026-01-01T00:00:00Z</Value>')
  expect(dimension).toContain('<Value>2026-05-01T00:00:00Z</Value>')
  expect(capabilities.match(/<Dimension>/g)).toHaveLength(1)
})

test('QGIS gets the key-value form first if a layer has times, which it writes in whole seconds', async () => {
  const encodings = async (path: string) => {
    const [operation = ''] = /<ows:Operation name="GetTile">.*?<\/ows:Operation>/s.exec(
      (await ask(path, withToken())).body.toString(),
    ) as RegExpExecArray
    return [...operation.matchAll(/<ows:Value>(\w+)</g)].map(([, encoding]) => encoding)
  }
  expect(await encodings('/wmts?only=alps')).toEqual(['KVP', 'RESTful'])
  expect(await encodings('/wmts?only=packed')).toEqual(['RESTful', 'KVP'])
})

test('TileJSON and styles of a time name its version', async () => {
  const { tiles } = JSON.parse((await ask(`/tiles/alps/tilejson.json?at=${APRIL}`, withToken())).body.toString())
  expect(tiles[0]).toContain('/tiles/alps/v1/')
  const later = JSON.parse((await ask(`/tiles/alps/tilejson.json?at=${JUNE}`, withToken())).body.toString())
  expect(later.tiles[0]).toContain('/tiles/alps/v2/')
  expect((await ask(`/tiles/alps/tilejson.json?at=${BEFORE}`, withToken())).status).toBe(404)
  const style = (await ask(`/tiles/alps/style.json?at=${APRIL}`, withToken())).body.toString()
  expect(style).toContain(`/tiles/alps/tilejson.json?at=${encodeURIComponent(APRIL)}`)
  expect((await ask(`/tiles/alps/style.json?at=${BEFORE}`, withToken())).status).toBe(404)
})
