import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { banner, credentialWords } from './banner.js'

const base = 'http://127.0.0.1:8910'
const facts = {
  consoleUrl: `${base}/admin/`,
  docsUrl: `${base}/docs/`,
  credentials: 'user admin, password in config/service.env',
  missing: null,
}

test('one line for each thing to try, and no line for a missing one', () => {
  const demo = {
    map: `${base}/map/#code=world&token=bmp_x`,
    tilejson: `${base}/tiles/world/tilejson.json?token=bmp_x`,
    tile: `${base}/tiles/world/current/0/0/0.jpg?token=bmp_x`,
    geojson: `${base}/vectors/countries/download?token=bmp_x`,
    shapefile: null,
    style: `${base}/styles/countries/style.json?token=bmp_x`,
    slice: { url: `${base}/api/v1/slice/jobs?token=bmp_x`, body: `{"name":"it's"}` },
  }
  const lines = banner({ ...facts, demo }).split('\n')
  expect(lines.filter((l) => l.includes('token='))).toEqual([
    expect.stringMatching(/^ {2}Map +http:\/\/127\.0\.0\.1:8910\/map\/#code=world&token=bmp_x$/),
    expect.stringMatching(/^ {2}TileJSON +http:\/\/127\.0\.0\.1:8910\/tiles\/world\/tilejson\.json\?token=bmp_x$/),
    expect.stringMatching(/^ {2}Tile +curl -fsS -o tile\.jpg '.*\/0\/0\/0\.jpg\?token=bmp_x'$/),
    expect.stringMatching(/^ {2}GeoJSON +curl -fsS -o demo\.geojson '.*\/vectors\/countries\/download\?token=bmp_x'$/),
    expect.stringMatching(/^ {2}Style +http:\/\/127\.0\.0\.1:8910\/styles\/countries\/style\.json\?token=bmp_x$/),
    expect.stringMatching(/^ {2}Slice +curl .* -d '{"name":"it'\\''s"}' '.*\/api\/v1\/slice\/jobs\?token=bmp_x'$/),
  ])
})

test('without demo data console and documentation remain', () => {
  const text = banner({ ...facts, demo: null })
  expect(text).toContain(facts.consoleUrl)
  expect(text).toContain(facts.docsUrl)
  expect(text).not.toContain('curl')
})

test('what this machine lacks is one line, next to the last', () => {
  const missing = { finding: 'GDAL (further formats)', command: 'apt-get install gdal-bin' }
  const lines = banner({ ...facts, demo: null, missing })
    .trimEnd()
    .split('\n')
  expect(lines.at(-2)).toMatch(/^ {2}Missing +GDAL \(further formats\): apt-get install gdal-bin$/)
})

test('a demo that could not be made has a line with the reason', () => {
  expect(banner({ ...facts, demo: { reason: 'no credentials' } })).toMatch(/^ {2}Demo +no credentials$/m)
})

test.each([
  [
    { adminPassword: 'p', adminToken: 't' },
    'user admin; ADMIN_PASSWORD and ADMIN_TOKEN as set in a.env or the environment',
  ],
  [{ adminPassword: 'p' }, 'user admin; ADMIN_PASSWORD as set in a.env or the environment'],
  [{ adminToken: 't' }, 'ADMIN_TOKEN as set in a.env or the environment; the console also needs ADMIN_PASSWORD'],
  [{ oidcIssuer: 'https://id.example' }, 'sign in through https://id.example'],
])('only the credentials that are set are named: %o', (set, words) => {
  const settings = { adminUser: 'admin', adminPassword: null, adminToken: null, oidcIssuer: null, ...set }
  expect(credentialWords(settings, { state: 'configured' }, 'a.env')).toBe(words)
})

test('a shell takes the address of a printed command as one word, whatever is in it', () => {
  const tile = `${base}/tiles/it's%20&co/current/0/0/0.png?token=bmp_x&a=$HOME`
  const text = banner({
    ...facts,
    demo: { map: null, tilejson: null, tile, geojson: null, shapefile: null, style: null, slice: null },
  })
  const command =
    text
      .split('\n')
      .find((l) => l.includes('curl'))
      ?.replace(/^.*?curl/, 'printf "%s\\n"') ?? ''
  const words = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim().split('\n')
  expect(words.at(-1)).toBe(tile.replace("'", '%27'))
  expect(words).toHaveLength(4)
})
