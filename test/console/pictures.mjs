import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { openGateway } from './gateway.mjs'
import { pagesOf } from './pages.mjs'

// Pictures of every page of the console in both languages, both themes and three widths, each checked by axe-core, with sheets of each kind:
//
//   node test/console/pictures.mjs --url http://localhost:4800 --password SECRET [--only overview,edges] [--themes dark] [--widths 390]
//
// They are left in test/artifacts/pictures. The exit code is 3 if axe finds something serious, a page is wider than its window, or its scripts fail.

const OUT = fileURLToPath(new URL('../artifacts/pictures/', import.meta.url))
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const HEIGHTS = { 1440: 900, 1280: 860, 390: 844 }
/** A page is drawn once nothing is loading any more; a map takes a moment more. */
const SETTLED_MS = 700
const GIVE_UP_MS = 20_000
/** Columns of a sheet. */
const COLUMNS = 3
const THUMB = { width: 760, height: 620 }

const list = (text) => ({ type: 'string', default: text })
const { values, api, browser, newContext, url } = await openGateway({
  only: list(''),
  languages: list('en-GB,zh-CN'),
  themes: list('light,dark'),
  widths: list('1440,1280,390'),
})
const only = values.only === '' ? null : new Set(values.only.split(','))
const pages = (await pagesOf(api)).filter(([name]) => only === null || only.has(name))
const problems = []
await mkdir(OUT, { recursive: true })
try {
  for (const locale of values.languages.split(','))
    for (const theme of values.themes.split(','))
      for (const width of values.widths.split(',')) await walk(locale, theme, Number(width))
} finally {
  await browser.close()
}
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.stdout.write(`${problems.length} problems; pictures are in ${OUT}\n`)
process.exitCode = problems.length === 0 ? 0 : 3

async function walk(locale, theme, width) {
  const kind = `${locale.slice(0, 2)}-${theme}-${width}`
  const context = await newContext({
    locale,
    colorScheme: theme,
    reducedMotion: 'reduce',
    viewport: { width, height: HEIGHTS[width] ?? 900 },
  })
  const page = await context.newPage()
  let at = ''
  page.on('pageerror', (error) => problems.push(`${at}: ${error.message}`))
  const files = []
  for (const [name, path] of pages) {
    at = `${kind} ${path}`
    await page.goto(`${url}/admin${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor({ timeout: GIVE_UP_MS })
    await page
      .waitForFunction(
        () => document.querySelector('[role=status][aria-label^="Loading"], .mantine-Skeleton-root') === null,
        null,
        {
          timeout: GIVE_UP_MS,
        },
      )
      .catch(() => problems.push(`${at}: still loading after ${GIVE_UP_MS / 1000} s`))
    await page.waitForTimeout(SETTLED_MS)
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (beyond > 0) problems.push(`${at}: ${beyond} px wider than the window`)
    problems.push(...(await violations(page)).map((violation) => `${at}: ${violation}`))
    const file = `${OUT}${kind}-${name}.png`
    await page.screenshot({ path: file, fullPage: true })
    files.push(file)
  }
  await context.close()
  await sheet(files, `${OUT}sheet-${kind}`)
}

/** Returns the violations that axe-core calls serious or critical. */
async function violations(page) {
  await page.evaluate(`${AXE}; null`)
  const { violations: found } = await page.evaluate(() =>
    /** @type {any} */ (window).axe.run({ resultTypes: ['violations'] }),
  )
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

/** The top of a picture; a narrow one is not enlarged. */
async function thumbnail(file) {
  const { data, info } = await sharp(file)
    .resize({ width: THUMB.width, withoutEnlargement: true })
    .toBuffer({ resolveWithObject: true })
  const height = Math.min(info.height, THUMB.height)
  return sharp(data).extract({ left: 0, top: 0, width: info.width, height }).toBuffer()
}

/** Many pictures on few sheets, each cut to the height of a thumbnail. */
async function sheet(files, out) {
  const perSheet = COLUMNS * 3
  for (let from = 0; from < files.length; from += perSheet) {
    const some = files.slice(from, from + perSheet)
    const composite = await Promise.all(
      some.map(async (file, i) => ({
        input: await thumbnail(file),
        left: (i % COLUMNS) * (THUMB.width + 8),
        top: Math.floor(i / COLUMNS) * (THUMB.height + 8),
      })),
    )
    const size = { width: COLUMNS * (THUMB.width + 8), height: Math.ceil(some.length / COLUMNS) * (THUMB.height + 8) }
    await sharp({ create: { ...size, channels: 3, background: '#888' } })
      .composite(composite)
      .png()
      .toFile(`${out}-${from / perSheet + 1}.png`)
  }
}
