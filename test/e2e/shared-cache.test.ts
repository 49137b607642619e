import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { freePort, isListening } from '../harness/ports.js'
import { ServiceProcess } from '../harness/service-process.js'
import { useGateway } from '../harness/use-gateway.js'

const NGINX_CACHE = fileURLToPath(new URL('../../deploy/nginx-cache', import.meta.url))

const gateway = useGateway({ env: { TOKEN_STALE_SECONDS: '1' } }, async (started) => {
  await makeTileFolder(join(started.home, 'basemaps/world/v1'), { maxZoom: 1 })
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'basemaps'))
})

let nginx: ServiceProcess
let cached: string
/** nginx with one cached copy for everyone whom the gateway admits */
let shared: string
let purger: ServiceProcess
let purgerPort: number
beforeAll(async () => {
  const port = await freePort()
  const sharedPort = await freePort()
  purgerPort = await freePort()
  cached = `http://127.0.0.1:${port}`
  shared = `http://127.0.0.1:${sharedPort}`
  const dir = join(gateway().home, 'nginx')
  await mkdir(join(dir, 'temp'), { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path temp;`)
  // The cache configuration from docs/caches.md.
  await writeFile(
    join(dir, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
events { }
http {
  access_log off;
  ${temporary.join('\n  ')}
  proxy_cache_path cache keys_zone=tiles:1m use_temp_path=off;
  upstream gateway { server ${new URL(gateway().url).host}; keepalive 8; }
  server {
    listen 127.0.0.1:${sharedPort};
    add_header X-Cache $upstream_cache_status;
    include ${NGINX_CACHE}/locations.conf;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${gateway().url};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache tiles;
      add_header X-Cache $upstream_cache_status;
    }
  }
}
`,
  )
  nginx = new ServiceProcess('nginx', ['nginx', '-e', 'stderr', '-p', dir, '-c', join(dir, 'nginx.conf')], process.env)
  purger = new ServiceProcess('purge', [process.execPath, `${NGINX_CACHE}/purge.mjs`], {
    ...process.env,
    PURGE_DIR: join(dir, 'cache'),
    PURGE_LISTEN: `127.0.0.1:${purgerPort}`,
    PURGE_SECRET: 'shared',
  })
  for (const [started, listens] of [
    [nginx, port],
    [purger, purgerPort],
  ] as const)
    while (!(await isListening(listens))) {
      if (!started.running) throw new Error(`${started.name} does not start:\n${started.output()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
})
afterAll(() => Promise.all([nginx?.kill(), purger?.kill()]))

async function ask(
  path: string,
  headers: Record<string, string> = {},
  through = cached,
): Promise<[status: number, cache: string | null]> {
  const answer = await fetch(through + path, { headers })
  await answer.arrayBuffer()
  return [answer.status, answer.headers.get('x-cache')]
}

test('a shared cache serves the tile of one token only to that token', async () => {
  const path = '/tiles/world/v1/0/0/0.png'
  const { token } = await gateway().issueToken({ basemap_codes: ['world'] })
  const { token: other } = await gateway().issueToken({ basemap_codes: ['elsewhere'] })
  const byHeaders = (text: string) => [{ 'x-access-token': text }, { authorization: `Bearer ${text}` }]
  for (const headers of byHeaders(token)) {
    expect(await ask(path, headers)).toEqual([200, 'MISS'])
    expect(await ask(path, headers)).toEqual([200, 'HIT'])
    expect((await ask(path))[0]).toBe(401)
    for (const foreign of byHeaders(other)) expect((await ask(path, foreign))[0]).toBe(403)
  }
  // A token in the query makes a different URL.
  expect(await ask(`${path}?token=${token}`)).toEqual([200, 'MISS'])
  expect(await ask(`${path}?token=${token}`)).toEqual([200, 'HIT'])
  expect((await ask(`${path}?token=${other}`))[0]).toBe(403)
  expect((await ask(path))[0]).toBe(401)
})

test('a map made from TileJSON shows one content: new content has new URLs, which no cache has stored', async () => {
  const { token } = await gateway().issueToken({ basemap_codes: ['world'] })
  const headers = { 'x-access-token': token }
  const template = async () => {
    const { tiles } = (await (await fetch(`${cached}/tiles/world/tilejson.json`, { headers })).json()) as {
      tiles: [string]
    }
    return tiles[0].replace(gateway().url, '').replace('{z}/{x}/{y}', '1/0/0')
  }
  const before = await template()
  expect(before).toMatch(/^\/tiles\/world\/v1\/1\/0\/0\.png\?v=[1-9]\d*$/)
  await ask(before, headers)
  expect(await ask(before, headers)).toEqual([200, 'HIT'])
  await makeTileFolder(join(gateway().home, 'basemaps/world/v1'), { minZoom: 2, maxZoom: 2, shade: 9 })
  await gateway().admin.rescan('maps')
  const changed = await template()
  expect(Number(changed.split('v=')[1])).toBeGreaterThan(Number(before.split('v=')[1]))
  expect(await ask(changed, headers)).toEqual([200, 'MISS'])
  await makeTileFolder(join(gateway().home, 'basemaps/world/v2'), { maxZoom: 1, shade: 5 })
  await gateway().admin.rescan('maps')
  expect(await template()).toContain('/tiles/world/v2/')
})

/** Adds a separate basemap whose tiles no other test has cached; returns its tiles of zoom 0 to 2. */
async function addBasemap(code: string): Promise<string[]> {
  await makeTileFolder(join(gateway().home, 'basemaps', code, 'v1'), { maxZoom: 2 })
  await gateway().admin.rescan('maps')
  return [0, 1, 2].flatMap((z) =>
    Array.from({ length: 4 ** z }, (_, i) => `/tiles/${code}/v1/${z}/${i % 2 ** z}/${Math.floor(i / 2 ** z)}.png`),
  )
}

test('behind auth_request one copy serves all admitted callers, and no one else', async () => {
  const tiles = await addBasemap('mix')
  const tokens = await Promise.all(
    ['a', 'b', 'c'].map(async () => (await gateway().issueToken({ basemap_codes: ['mix'] })).token),
  )
  // Like real maps, which request the upper zooms most often.
  const mix = Array.from({ length: 500 }, (_, i) => tiles[Math.floor(tiles.length * ((i * 0.618_034) % 1) ** 2)])
  const seen: unknown[] = []
  for (const [i, tile] of mix.entries()) seen.push((await ask(`${tile}?token=${tokens[i % 3]}`, {}, shared)).join(' '))
  expect(new Set(seen)).toEqual(new Set(['200 MISS', '200 HIT']))
  expect(seen.filter((one) => one === '200 HIT').length / mix.length).toBeGreaterThan(0.95)
  const [tile = ''] = tiles
  const { token: other } = await gateway().issueToken({ basemap_codes: ['world'] })
  expect(await ask(tile, { 'x-access-token': tokens[0] as string }, shared)).toEqual([200, 'HIT'])
  expect((await ask(tile, { 'x-access-token': other }, shared))[0]).toBe(403)
  expect((await ask(tile, {}, shared))[0]).toBe(401)
  const signing = { basemap_code: 'mix', expires_at: '2040-01-01' }
  const { url_template: template } = await gateway().admin.expect<{ url_template: string }>('/signed-urls', {
    body: signing,
  })
  expect(await ask(`${tile}?${template.split('?')[1]}`, {}, shared)).toEqual([200, 'HIT'])
  expect((await ask(`/tiles/world/v1/0/0/0.png?${template.split('?')[1]}`, {}, shared))[0]).toBe(401)
})

test('a disabled token is refused at once if the cache asks the gateway, and if no cache stores a private map', async () => {
  const [tile = ''] = await addBasemap('closed')
  const { token, id } = await gateway().issueToken({ basemap_codes: ['closed'] })
  const headers = { 'x-access-token': token }
  expect(await ask(tile, headers, shared)).toEqual([200, 'MISS'])
  expect(await ask(tile, headers, shared)).toEqual([200, 'HIT'])
  await gateway().admin.expect('/basemaps/closed', { method: 'PATCH', body: { cache_policy: 'private' } })
  // A cache that does not ask the gateway.
  for (let i = 0; i < 3; i++) expect(await ask(`${tile}?v=9`, headers)).toEqual([200, 'MISS'])
  await gateway().admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
  expect((await ask(tile, headers, shared))[0]).toBe(401)
  expect((await ask(`${tile}?v=9`, headers))[0]).toBe(401)
})

test('a cache drops the old content of a changed version, and withdrawn content', async () => {
  const [tile = ''] = await addBasemap('changing')
  const { token } = await gateway().issueToken({ basemap_codes: ['*'] })
  const target = { code: 'cache', kind: 'purge', url: `http://127.0.0.1:${purgerPort}/`, secret: 'shared' }
  await gateway().admin.expect('/targets', { body: target })
  const show = async () => {
    const answer = await fetch(`${shared}${tile}?token=${token}`)
    return `${answer.status} ${answer.headers.get('etag')}`
  }
  const before = await show()
  expect(await ask(`${tile}?token=${token}`, {}, shared)).toEqual([200, 'HIT'])
  await makeTileFolder(join(gateway().home, 'basemaps/changing/v1'), { maxZoom: 3, shade: 9 })
  await gateway().admin.rescan('maps')
  await expect.poll(show).not.toBe(before)
  expect(await show()).toMatch(/^200 /)
  await gateway().admin.expect('/basemaps/changing', { method: 'PATCH', body: { withdrawn: true } })
  await expect.poll(show).toMatch(/^404 /)
})

test('signed URLs stay valid while the key is rotated, and end at once if it is rotated without grace', async () => {
  const sign = async () => {
    const body = { basemap_code: 'world', version: 'v1', expires_at: '2040-01-01' }
    const { url_template: template } = await gateway().admin.expect<{ url_template: string }>('/signed-urls', { body })
    return template.replace('{z}/{x}/{y}', '0/0/0')
  }
  const statusOf = async (address: string) => (await fetch(address)).status
  const rotate = (body: object) => gateway().admin.expect('/signing-keys/rotate', { body })
  const signed = [await sign()]
  const signatureOf = (address = '') => new URL(address).searchParams.get('sig')
  await rotate({})
  // The old key signs until the new one does.
  await expect
    .poll(async () => {
      signed.push(await sign())
      expect(await Promise.all(signed.map(statusOf))).toEqual(signed.map(() => 200))
      return signatureOf(signed.at(-1))
    })
    .not.toBe(signatureOf(signed[0]))
  await rotate({ grace_seconds: 0 })
  expect(new Set(await Promise.all(signed.map(statusOf)))).toEqual(new Set([401]))
  expect(await statusOf(await sign())).toBe(200)
})
