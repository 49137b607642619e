import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { withConnection } from '../harness/database.js'
import type { Gateway } from '../harness/gateway.js'
import { useGateway } from '../harness/use-gateway.js'
import { type Library, OPENLAYERS, PAGE, useClientPages, WINDOW } from './pages.js'
import { coloursAt } from './world.js'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const SCRIPT = fileURLToPath(new URL('qgis_week.py', import.meta.url))
const DAY_MS = 86_400_000
const CODE = 'week'
const HALF = Math.PI * 6378137

/** A version of each day of the last week, in one colour. Its day begins at midnight in UTC. */
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const WEEK = [
  [225, 30, 30],
  [240, 140, 0],
  [240, 200, 0],
  [20, 160, 60],
  [0, 170, 190],
  [30, 60, 220],
  [140, 40, 170],
].map((colour, i) => ({ version: `v${i + 1}`, colour, begins: new Date(TODAY - (7 - i) * DAY_MS) }))
const COLOURS = WEEK.map(({ colour }) => colour)

/** `by`: wmts, whose dimension each step changes in the same source, or xyz, whose address it changes. `draw` returns the times that capabilities list. */
const PLAYER: Library = {
  ...OPENLAYERS,
  page: `${PAGE}<script src="ol.js"></script><script>
let source, show, times = []
const makers = {
  async wmts({ base, token, code }) {
    const answer = await fetch(base + '/wmts?only=' + code + '&token=' + token)
    const capabilities = new ol.format.WMTSCapabilities().read(await answer.text())
    const options = ol.source.WMTS.optionsFromCapabilities(capabilities, { layer: code, requestEncoding: 'KVP' })
    source = new ol.source.WMTS(options)
    show = (time) => source.updateDimensions({ Time: time })
    times = capabilities.Contents.Layer[0].Dimension[0].Value
  },
  async xyz({ base, token, code }) {
    source = new ol.source.XYZ({ maxZoom: 0 })
    show = (time) => source.setUrl(base + '/tiles/' + code + '/current/{z}/{x}/{y}.png?token=' + token + '&at=' + time)
  },
}
let map
async function draw(spec) {
  if (map === undefined) {
    await makers[spec.by](spec)
    const view = new ol.View({ center: [0, 0], resolution: 2 * Math.PI * 6378137 / ${WINDOW.width}, constrainResolution: false })
    map = new ol.Map({ target: 'map', controls: [], layers: [new ol.layer.Tile({ source })], view })
  }
  show(spec.time)
  await new Promise((resolve) => map.once('rendercomplete', resolve))
  return times
}
</script>`,
}

let token: string
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  token = (await started.issueToken({ basemap_codes: [CODE] })).token
  await makeWeek(started)
})
const openClient = useClientPages({ ol: PLAYER })

/** Switches the default to one version after the other, and then moves the switches to the days of the week. */
async function makeWeek(started: Gateway): Promise<void> {
  const { admin, database, home } = started
  for (const { version, colour } of WEEK) {
    const folder = join(home, 'maps', CODE, version, '0/0')
    await mkdir(folder, { recursive: true })
    const [r = 0, g = 0, b = 0] = colour
    const image = sharp({ create: { width: 256, height: 256, channels: 3, background: { r, g, b } } })
    await writeFile(join(folder, '0.png'), await image.png().toBuffer())
  }
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
  for (const { version } of WEEK) await admin.expect(`/basemaps/${CODE}/default-version`, { body: { version } })
  const switches = WEEK.map(({ version, begins }, i) => ({
    version,
    begins: begins.toISOString(),
    ends: WEEK[i + 1]?.begins.toISOString() ?? null,
  }))
  await withConnection(database.url, async (sql) => {
    // The scan chose a default before the first switch.
    await sql`DELETE FROM basemap_defaults WHERE since < (SELECT max(since) FROM basemap_defaults WHERE version = 'v1')`
    const { count } = await sql`
      UPDATE basemap_defaults d SET since = day.begins, until = day.ends
      FROM json_to_recordset(${JSON.stringify(switches)}::text::json) AS day (version text, begins timestamptz, ends timestamptz)
      WHERE d.basemap_code = ${CODE} AND d.version = day.version`
    expect(count).toBe(WEEK.length)
  })
  // Any change makes edges read the basemap again.
  await admin.expect(`/basemaps/${CODE}`, { method: 'PATCH', body: { description: 'a week' } })
  await started.caughtUp()
}

const centreOf = async (picture: Buffer) =>
  (await coloursAt(picture, { centre: [WINDOW.width / 2, WINDOW.height / 2] })).centre

test.each([
  ['the dimension Time of WMTS', 'wmts', WEEK.map(({ begins }) => begins.toISOString().replace('.000Z', 'Z'))],
  ['at of XYZ', 'xyz', []],
])(
  'OpenLayers plays a week of versions by %s',
  async (_, by, times) => {
    const player = await openClient('ol')
    const seen = []
    for (const [i, { begins }] of WEEK.entries()) {
      const spec = { by, base: gateway().url, token, code: CODE, time: begins.toISOString() }
      expect(await player.draw(spec)).toEqual(times)
      const picture = await player.picture()
      await writeFile(join(ARTIFACTS, `openlayers-week-${by}-${i + 1}.png`), picture)
      seen.push(await centreOf(picture))
    }
    expect(seen).toEqual(COLOURS)
  },
  60_000,
)

test("QGIS's temporal controller plays a week of versions: a layer for each day, by at", async () => {
  const layers = WEEK.map(({ version, begins }) => {
    const url = `${gateway().url}/tiles/${CODE}/current/{z}/{x}/{y}.png?at=${begins.toISOString()}&token=${token}`
    const uri = `type=xyz&zmin=0&zmax=0&url=${encodeURIComponent(url).replaceAll('%7B', '{').replaceAll('%7D', '}')}`
    return { name: version, uri, begins: begins.getTime(), ends: begins.getTime() + DAY_MS }
  })
  const files = WEEK.map((_, i) => join(ARTIFACTS, `qgis-week-${i + 1}.png`))
  const frames = await played({ layers, files, crs: 'EPSG:3857', extent: [-HALF, -HALF / 2, HALF, HALF / 2] })
  expect(frames).toEqual(WEEK.map(({ begins }) => begins.getTime()))
  expect(await Promise.all(files.map(async (file) => centreOf(await readFile(file))))).toEqual(COLOURS)
}, 120_000)

/** Returns when each frame began, in milliseconds. */
async function played(week: object): Promise<unknown> {
  const { home } = gateway()
  const process_ = spawn('/usr/bin/python3', [SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: home,
    env: { ...process.env, QT_QPA_PLATFORM: 'offscreen', HOME: home, XDG_RUNTIME_DIR: home },
  })
  process_.stdin.end(JSON.stringify(week))
  const [out] = await Promise.all([text(process_.stdout), once(process_, 'exit')])
  return JSON.parse(out)
}
