import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { freePort, isListening } from '../harness/ports.js'
import { ServiceProcess } from '../harness/service-process.js'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway({}, async (started) => {
  await makeTileFolder(join(started.home, 'basemaps/world/v1'), { maxZoom: 1 })
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'basemaps'))
})

let nginx: ServiceProcess
let cached: string
beforeAll(async () => {
  const port = await freePort()
  cached = `http://127.0.0.1:${port}`
  const dir = join(gateway().home, 'nginx')
  await mkdir(join(dir, 'temp'), { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path temp;`)
  // The cache as it is in docs/caches.md.
  await writeFile(
    join(dir, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
events { }
http {
  access_log off;
  ${temporary.join('\n  ')}
  proxy_cache_path cache keys_zone=tiles:1m use_temp_path=off;
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
  while (!(await isListening(port))) {
    if (!nginx.running) throw new Error(`nginx does not start:\n${nginx.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})
afterAll(() => nginx?.kill())

async function ask(
  path: string,
  headers: Record<string, string> = {},
): Promise<[status: number, cache: string | null]> {
  const answer = await fetch(cached + path, { headers })
  await answer.arrayBuffer()
  return [answer.status, answer.headers.get('x-cache')]
}

test('a shared cache gives the tile of one token to that token alone', async () => {
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
  // A token in the query makes an address of its own.
  expect(await ask(`${path}?token=${token}`)).toEqual([200, 'MISS'])
  expect(await ask(`${path}?token=${token}`)).toEqual([200, 'HIT'])
  expect((await ask(`${path}?token=${other}`))[0]).toBe(403)
  expect((await ask(path))[0]).toBe(401)
})

test('a map made from TileJSON shows one content: another one has other addresses, which no cache has kept', async () => {
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
