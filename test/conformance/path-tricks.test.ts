import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { fixtureTile, useMaps, useToken } from './maps.js'
import { rawGet } from './raw-request.js'

const maps = useMaps()
const token = useToken(maps)

/** Content outside of every source, which no response may contain. */
const SECRET = 'the-secret-beside-the-sources'

beforeAll(async () => {
  const { gateway, basemapRoot, vectorRoot } = maps()
  await writeFile(
    join(gateway.home, 'secret.geojson'),
    JSON.stringify({ type: 'FeatureCollection', features: [], SECRET }),
  )
  await writeFile(join(gateway.home, 'secret.png'), SECRET)
  await mkdir(join(basemapRoot, 'linked/0/0'), { recursive: true })
  await writeFile(join(basemapRoot, 'linked/0/0/0.png'), await fixtureTile(0, 0, 0))
  await mkdir(join(basemapRoot, 'linked/1/0'), { recursive: true })
  await symlink(join(gateway.home, 'secret.png'), join(basemapRoot, 'linked/1/0/0.png'))
  await symlink('/etc', join(basemapRoot, 'etc'))
  await symlink(join(gateway.home, 'secret.geojson'), join(vectorRoot, 'secret.geojson'))
  await symlink(gateway.home, join(vectorRoot, 'up'))
  await gateway.admin.rescan('fixture-basemaps')
  await gateway.admin.rescan('fixture-vectors')
})

test('symbolic links that lead out of a source are neither listed nor served', async () => {
  const catalog = JSON.stringify(await maps().gateway.admin.expect('/vectors'))
  expect(catalog).not.toMatch(/secret/)
  const inside = await maps().get('/tiles/linked/0/0/0.png', { 'X-Access-Token': token() })
  expect(inside.status).toBe(200)
  for (const path of [
    '/tiles/linked/1/0/0.png',
    '/geojson/secret.geojson',
    '/geojson/up/secret.geojson',
    '/vectors/secret/download',
  ]) {
    const answer = await maps().get(path, { 'X-Access-Token': token() })
    expect([path, answer.status]).toEqual([path, 404])
    expect(await answer.text()).not.toContain(SECRET)
  }
})

test('a vector that becomes a link out of its source after the scan is not served', async () => {
  const { gateway, vectorRoot } = maps()
  const path = join(vectorRoot, 'swapped.geojson')
  await writeFile(path, '{"type":"FeatureCollection","features":[]}')
  await gateway.admin.rescan('fixture-vectors')
  expect((await maps().get('/geojson/swapped.geojson', { 'X-Access-Token': token() })).status).toBe(200)
  await rm(path)
  await symlink(join(gateway.home, 'secret.geojson'), path)
  const answer = await maps().get('/geojson/swapped.geojson', { 'X-Access-Token': token() })
  expect(answer.status).toBe(404)
  expect(await answer.text()).not.toContain(SECRET)
})

const TRICKS = [
  '../secret.png',
  '..%2fsecret.png',
  '%2e%2e/secret.png',
  '%252e%252e%252fsecret.png',
  '..\\secret.png',
  '..%5csecret.png',
  '%c0%ae%c0%ae/secret.png',
  '....//secret.png',
  'secret.png%00.png',
  '%00',
  '%',
  '%zz',
  '%ff%fe',
  '/etc/passwd',
  '//etc/passwd',
  'a/./../b',
  '.',
  '..',
  `${'a/'.repeat(2000)}x`,
  'a'.repeat(6000),
]
const PREFIXES = [
  '/tiles/',
  '/tiles/world/',
  '/tiles/world/2026-2/',
  '/tiles/world/2026-2/0/0/',
  '/vectors/',
  '/geojson/',
  '/shp/',
  '/',
  '/admin/',
  '/api/v1/catalog/basemaps/',
]

test('known path tricks are refused everywhere without a server error', async () => {
  for (const prefix of PREFIXES) {
    for (const trick of TRICKS) await expectHarmless(`${prefix}${trick}?token=${token()}`)
  }
})

const RUNS = 10_000
const AT_ONCE = 50

test(`${RUNS} random paths never leave a source and never cause a 5xx`, async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '%2e%2e',
      '%252e',
      '%2f',
      '\\',
      '%5c',
      '%00',
      '0',
      '1',
      'world',
      'current',
      '2026-2',
      'secret.png',
      '.png',
      'etc',
      'passwd',
      'up',
      '-1',
      '1e3',
      '0x1',
      '99999999999999999999',
      '%E4%B8%96',
      '%ff',
      '',
      ';',
      '?',
      '&token=',
      '*',
    ),
    fc.string({ maxLength: 12 }).map((text) => encodeURI(text.replace(/[\s\ud800-\udfff]/gu, '_'))),
  )
  const path = fc
    .tuple(fc.constantFrom(...PREFIXES), fc.array(piece, { maxLength: 9 }), fc.constantFrom('/', ''))
    .map(([prefix, pieces, glue]) => prefix + pieces.join(glue || '/'))
  const paths = fc.sample(path, RUNS)
  for (let i = 0; i < paths.length; i += AT_ONCE) {
    await Promise.all(
      paths.slice(i, i + AT_ONCE).map((p) => expectHarmless(`${p}${p.includes('?') ? '&' : '?'}token=${token()}`)),
    )
  }
})

async function expectHarmless(target: string): Promise<void> {
  const answer = await rawGet(maps().gateway.url, target)
  // Closing the connection on malformed HTTP is a refusal too.
  if (answer === null) return
  expect([target, answer.status < 500]).toEqual([target, true])
  expect(answer.body).not.toContain(SECRET)
  expect(answer.body).not.toMatch(/root:.*:0:0:/)
}
