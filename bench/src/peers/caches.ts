import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cores } from '../machine.js'
import { startDaemon, versionOf } from './peer.js'

/** A server that keeps the tiles of a service, by the way in which it is asked for a layer (`wms`, `wmts`, `xyz`). */
export interface TileCachePeer {
  readonly name: string
  readonly description: string
  readonly port: number
  readonly pids: () => number[]
  /** null: it cannot have this kind of service behind it */
  tilePath(kind: string, z: number, x: number, y: number): string | null
  mapPath(kind: string, box: readonly number[]): string
  /** of the request with a number */
  headers(i: number): readonly string[]
  stop(): Promise<void>
}

const WORKERS = 64

/** Address of a picture of 512 x 512 pixels by WMS 1.1.1, in metres. */
export const getMap = (path: string, layer: string, box: readonly number[]): string =>
  `${path}?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layer}&STYLES=&SRS=EPSG:3857&BBOX=${box.join(',')}&WIDTH=512&HEIGHT=512&FORMAT=image/png`

/** MapProxy in gunicorn with one process of 64 threads: more processes on one processor are not faster. Metatiles are those of the gateway. */
export async function startMapProxy(service: string, cores: Cores | null): Promise<TileCachePeer | string> {
  const version = versionOf('mapproxy-util', '--version')
  if (version === null || versionOf('gunicorn', '--version') === null) return 'apt-get install mapproxy gunicorn'
  const daemon = await startDaemon({
    name: 'mapproxy',
    cores,
    ready: ['/wmts/xyz/g/0/0/0.png', 200],
    configuration: (_, dir) => {
      const source = (kind: string) =>
        `  ${kind}: {type: tile, grid: g, url: "${service}/${kind}/%(z)s/%(x)s/%(y)s.png"}`
      writeFileSync(
        join(dir, 'wsgi.py'),
        `from mapproxy.wsgiapp import make_wsgi_app\napplication = make_wsgi_app('${dir}/config')\n`,
      )
      return `
services: {wmts: {restful: true, kvp: false, restful_template: '/{Layer}/{TileMatrixSet}/{TileMatrix}/{TileCol}/{TileRow}.{Format}'}, wms: {srs: ['EPSG:3857'], image_formats: ['image/png']}}
layers:
${KINDS.map((kind) => `  - {name: ${kind}, title: ${kind}, sources: [c_${kind}]}`).join('\n')}
caches:
${KINDS.map((kind) => `  c_${kind}: {grids: [g], sources: [${kind}], format: image/png}`).join('\n')}
sources:
  wms: {type: wms, supported_srs: ['EPSG:3857'], req: {url: "${service}/wms?", layers: town}}
${source('wmts')}
${source('xyz')}
grids: {g: {base: GLOBAL_WEBMERCATOR, origin: nw}}
globals: {cache: {base_dir: '${dir}/cache', lock_dir: '${dir}/locks', meta_size: [4, 4], meta_buffer: 64}}
`
    },
    command: (_, dir, port) =>
      `gunicorn --chdir ${dir} -b 127.0.0.1:${port} -w 1 -k gthread --threads ${WORKERS} --keep-alive 60 --worker-connections 1000 wsgi`.split(
        ' ',
      ),
  })
  return {
    ...daemon,
    name: 'mapproxy',
    description: `${version} in gunicorn, 1 process with ${WORKERS} threads`,
    headers: () => [],
    tilePath: (kind, z, x, y) => `/wmts/${kind}/g/${z}/${x}/${y}.png`,
    mapPath: (kind, box) => getMap('/service', kind, box),
  }
}

/** MapCache in Apache with one process of 64 threads. It has other caches in place of services of tiles: `rest` behind a cache on the disk. */
export async function startMapCache(service: string, cores: Cores | null): Promise<TileCachePeer | string> {
  const version = versionOf('apache2', '-v')
  if (version === null || versionOf('mapcache_seed', '--version') === null)
    return 'apt-get install libapache2-mod-mapcache'
  const daemon = await startDaemon({
    name: 'mapcache',
    cores,
    ready: ['/none', 404],
    configuration: (port, dir) => {
      const modules = '/usr/lib/apache2/modules'
      mkdirSync(join(dir, 'cache'))
      // Apache gives up its rights.
      for (const one of [dir, join(dir, 'cache')]) chmodSync(one, 0o777)
      const tiled = (kind: string) => `
<cache name="r_${kind}" type="rest"><url>${service}/${kind}/{z}/{x}/{inv_y}.png</url></cache>
<cache name="c_${kind}" type="multitier"><cache>disk</cache><cache>r_${kind}</cache></cache>
<tileset name="${kind}"><cache>c_${kind}</cache><grid>GoogleMapsCompatible</grid><format>PNG</format></tileset>`
      writeFileSync(
        join(dir, 'mapcache.xml'),
        `<mapcache>
<cache name="disk" type="disk"><base>${dir}/cache</base></cache>
<source name="town" type="wms"><getmap><params><FORMAT>image/png</FORMAT><LAYERS>town</LAYERS></params></getmap><http><url>${service}/wms</url></http></source>
<tileset name="wms"><source>town</source><cache>disk</cache><grid>GoogleMapsCompatible</grid><format>PNG</format><metatile>4 4</metatile><metabuffer>64</metabuffer></tileset>
${tiled('xyz')}${tiled('wmts')}
<service type="wms" enabled="true"><full_wms>assemble</full_wms><resample_mode>bilinear</resample_mode><format>PNG</format></service>
<service type="wmts" enabled="true"/><service type="gmaps" enabled="true"/>
<default_format>PNG</default_format><errors>report</errors><lock_dir>${dir}</lock_dir></mapcache>`,
      )
      return `
ServerRoot ${dir}
ServerName 127.0.0.1
PidFile ${dir}/pid
ErrorLog ${dir}/error.log
Listen 127.0.0.1:${port}
LoadModule mpm_event_module ${modules}/mod_mpm_event.so
LoadModule authz_core_module ${modules}/mod_authz_core.so
LoadModule mapcache_module ${modules}/mod_mapcache.so
${process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''}
StartServers 1
ServerLimit 1
ThreadsPerChild ${2 * WORKERS}
ThreadLimit ${2 * WORKERS}
MaxRequestWorkers ${2 * WORKERS}
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
MapCacheAlias /m ${dir}/mapcache.xml
`
    },
    command: (config) => ['apache2', '-D', 'FOREGROUND', '-f', config],
  })
  return {
    ...daemon,
    name: 'mapcache',
    description: `MapCache in ${version}, 1 process with ${WORKERS} threads`,
    headers: () => [],
    tilePath: (kind, z, x, y) => `/m/gmaps/${kind}@GoogleMapsCompatible/${z}/${x}/${y}.png`,
    mapPath: (kind, box) => getMap('/m/', kind, box),
  }
}

export const KINDS = ['wms', 'wmts', 'xyz'] as const
