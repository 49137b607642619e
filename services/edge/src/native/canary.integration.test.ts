import { isReached } from '@gateway/store/catalog/canary.js'
import { afterEach, expect, test } from 'vitest'
import {
  ask,
  askUntilTable,
  BODIES,
  issue,
  setCanary,
  TARGETS,
  usePublishingEdge,
  V1,
  withToken,
} from '../testing/publishing-edge.js'

const SWITCH = { id: '5f0c2a7e-1111-4222-8333-444455556666', version: 'v2', percent: 50 }
const UNFIXED = TARGETS.slice(1)

usePublishingEdge()
afterEach(() => setCanary(null))

const versionOf = ({ body }: { body: Buffer }) =>
  body.equals(BODIES.v1) ? 'v1' : body.equals(BODIES.v2) ? 'v2' : 'neither'

/** Returns a token that the canary reaches, and one that it does not. */
function twoTokens() {
  const found = new Map<boolean, string>()
  while (found.size < 2) {
    const { token, digest } = issue()
    found.set(isReached(SWITCH, digest), token)
  }
  return [found.get(true) as string, found.get(false) as string]
}

test('some two thirds of a thousand tokens are reached by 66 %, always the same ones', () => {
  const running = { ...SWITCH, percent: 66 }
  const ids = Array.from({ length: 1000 }, (_, i) => `token ${i}`)
  const reached = ids.filter((id) => isReached(running, id))
  expect(Math.abs(reached.length - 660)).toBeLessThan(60)
  expect(ids.filter((id) => isReached(running, id))).toEqual(reached)
  const others = ids.filter((id) => isReached({ ...running, id: 'another switch' }, id))
  expect(others).not.toEqual(reached)
  expect(reached.filter((id) => !isReached({ ...running, percent: 80 }, id))).toEqual([])
})

test('a canary reaches its tokens at addresses without a version, even if the native tier had the tile', async () => {
  const [reached, other] = twoTokens()
  for (const target of UNFIXED) for (const token of [reached, other]) await askUntilTable(target, withToken(token))
  await setCanary(SWITCH)
  for (let round = 0; round < 4; round++) {
    for (const target of UNFIXED) {
      expect(versionOf(await ask(target, withToken(reached)))).toBe('v2')
      expect(versionOf(await ask(target, withToken(other)))).toBe('v1')
    }
  }
  await setCanary(null)
  for (const target of UNFIXED)
    for (const token of [reached, other]) {
      const answers = await askUntilTable(target, withToken(token))
      expect(answers.map(versionOf)).toEqual(answers.map(() => 'v1'))
    }
})

test('addresses with a version mean the same to all tokens, and are still answered natively', async () => {
  const [reached, other] = twoTokens()
  await setCanary(SWITCH)
  for (const token of [reached, other]) {
    const answers = await askUntilTable(V1, withToken(token))
    expect(answers.map(versionOf)).toEqual(answers.map(() => 'v1'))
  }
})

test('documents name the version of their reader', async () => {
  const [reached, other] = twoTokens()
  await setCanary(SWITCH)
  const wmts =
    '/wmts?SERVICE=WMTS&REQUEST=GetTile&LAYER=alps&STYLE=default&TILEMATRIXSET=WebMercatorQuad&FORMAT=image/png'
  for (const [token, version] of [
    [reached, 'v2'],
    [other, 'v1'],
  ] as const) {
    for (let round = 0; round < 2; round++) {
      const { tiles } = JSON.parse((await ask('/tiles/alps/tilejson.json', withToken(token))).body.toString())
      expect(tiles[0]).toContain(`/tiles/alps/${version}/`)
      const capabilities = (await ask('/wmts/1.0.0/WMTSCapabilities.xml', withToken(token))).body.toString()
      expect(capabilities).toContain(`/tiles/alps/${version}/{TileMatrix}`)
      const listed = JSON.parse((await ask('/api/v1/catalog/basemaps/alps', withToken(token))).body.toString())
      expect(listed.default_version).toBe(version)
      expect(versionOf(await ask(`${wmts}&TILEMATRIX=0&TILEROW=0&TILECOL=0`, withToken(token)))).toBe(version)
      expect(versionOf(await ask('/tms/1.0.0/alps/0/0/0.png', withToken(token)))).toBe(version)
      expect(versionOf(await ask('/ogc/collections/alps/map/tiles/WebMercatorQuad/0/0/0', withToken(token)))).toBe(
        version,
      )
      expect(versionOf(await ask('/arcgis/rest/services/alps/MapServer/tile/0/0/0', withToken(token)))).toBe(version)
    }
  }
})
