import { openGateway } from './gateway.mjs'

// Measures how the console opens on a slow line, with nothing cached, in Debian's Chromium:
//
//   node test/console/slow-line.mjs --url http://localhost:4800 --password SECRET [--user admin] [--json] [--only version,tokens]
//
// The gateway must run already; `npm run dev -- --sample` has the data of a full organization. The browser throttles (CDP), so the figures
// leave out the handshakes of a real line. The exit code is 3 if a page misses its target.

/** 1.6 Mbit/s down, 0.75 Mbit/s up, 150 ms of latency. */
const LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
const DESKTOP = { width: 1440, height: 900 }
const GIVE_UP_MS = 60_000
/** Time in ms for which an idle tab is watched. */
const IDLE_MS = 8_000

const TARGETS = { ms: 2_500, mapMs: 4_000, requests: 15, bytes: 150_000, shift: 0.05, idle: 0 }

const {
  url: base,
  values,
  api,
  browser,
  newContext,
} = await openGateway({
  runs: { type: 'string', default: '3' },
  json: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
})

const basemap = (await api('/basemaps?limit=1')).items[0]
const version = basemap && (basemap.default_version ?? basemap.versions[0]?.version)
const only = values.only === '' ? null : values.only.split(',')
const PAGES = [
  { name: 'tokens', path: '/tokens', content: 'tbody tr' },
  { name: 'basemaps', path: '/basemaps', content: 'tbody tr' },
  { name: 'overview', path: '/', content: '.figure' },
  ...(version === undefined
    ? []
    : [
        {
          name: 'version',
          path: `/basemaps/${encodeURIComponent(basemap.code)}/versions/${encodeURIComponent(version)}`,
          content: '.facts dd',
          map: true,
        },
      ]),
].filter(({ name }) => only === null || only.includes(name))

const rows = []
try {
  for (const page of PAGES) {
    const runs = []
    for (let i = 0; i < Number(values.runs); i++) runs.push(await measure(page))
    rows.push({ page: page.name, ...middle(runs) })
  }
} finally {
  await browser.close()
}
if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
else console.table(rows)
const missed = rows.flatMap((row) =>
  Object.entries(TARGETS)
    .filter(([name, most]) => row[name] !== undefined && row[name] > most)
    .map(([name, most]) => `${row.page}: ${name} is ${row[name]}, the target is ${most}`),
)
for (const line of missed) process.stderr.write(`${line}\n`)
process.exitCode = missed.length === 0 ? 0 : 3

/** One visit with an empty cache; times in milliseconds from the navigation's start. */
async function measure({ path, content, map = false }) {
  const context = await newContext({ viewport: DESKTOP })
  const page = await context.newPage()
  await page.addInitScript(watchPage, { content, map })
  const cdp = await context.newCDPSession(page)
  await cdp.send('Network.enable')
  await cdp.send('Network.emulateNetworkConditions', LINE)
  const loads = []
  const running = new Map()
  cdp.on('Network.requestWillBeSent', ({ requestId, request: { url }, timestamp }) => {
    if (!/^(data|blob):/.test(url)) running.set(requestId, { url, begin: timestamp, bytes: 0, end: null })
  })
  cdp.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) => {
    const one = running.get(requestId)
    if (one !== undefined) loads.push({ ...one, end: timestamp, bytes: encodedDataLength })
  })
  await page.goto(`${base}/admin${path}`, { waitUntil: 'commit' })
  await page.waitForFunction(
    (wantsMap) =>
      /** @type {any} */ (window).seen.content !== null && (!wantsMap || /** @type {any} */ (window).seen.map !== null),
    map,
    {
      timeout: GIVE_UP_MS,
    },
  )
  const first = Math.min(...[...running.values()].map(({ begin }) => begin))
  const seen = await page.evaluate(() => /** @type {any} */ (window).seen)
  const until = first + seen.content / 1000
  const before = [...running.values()].filter(({ begin }) => begin <= until)
  const bytes = loads.filter(({ end }) => end <= until).reduce((sum, load) => sum + load.bytes, 0)
  // A pending request would not count as idling.
  await page.waitForLoadState('networkidle').catch(() => {})
  await page.waitForTimeout(IDLE_MS)
  const from = running.size
  await page.waitForTimeout(IDLE_MS)
  const idle = running.size - from
  const { shift } = await page.evaluate(() => /** @type {any} */ (window).seen)
  await context.close()
  return {
    ms: Math.round(seen.content),
    ...(map && { mapMs: Math.round(seen.map) }),
    requests: before.length,
    bytes: Math.round(bytes),
    shift: Math.round(shift * 1000) / 1000,
    idle,
  }
}

/** Runs in the page before its own scripts. */
function watchPage({ content }) {
  const seen = { content: null, map: null, shift: 0 }
  Object.assign(window, { seen })
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of /** @type {any[]} */ (list.getEntries()))
      if (!hadRecentInput) seen.shift += value
  }).observe({ type: 'layout-shift', buffered: true })
  const afterPaint = (name) =>
    requestAnimationFrame(() =>
      setTimeout(() => {
        seen[name] ??= performance.now()
      }),
    )
  const look = () => {
    const found = document.querySelector(content)
    if (found !== null && found.getBoundingClientRect().height > 0) return afterPaint('content')
    requestAnimationFrame(look)
  }
  look()
  // After the first tile of the map has arrived, the next frame of its canvas draws it.
  new PerformanceObserver((list) => {
    const tile = list.getEntries().some(({ name }) => /\/tiles\/.*\.(png|jpg|webp|avif|pbf)/.test(name))
    const canvas = () =>
      document.querySelector('canvas.maplibregl-canvas') === null ? setTimeout(canvas, 20) : afterPaint('map')
    if (tile) canvas()
  }).observe({ type: 'resource', buffered: true })
}

/** Returns the median of each figure. */
function middle(runs) {
  const of = (name) => runs.map((run) => run[name]).sort((a, b) => a - b)[runs.length >> 1]
  return Object.fromEntries(Object.keys(runs[0]).map((name) => [name, of(name)]))
}
