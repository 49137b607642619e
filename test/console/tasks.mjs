import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { openGateway } from './gateway.mjs'

// Tasks of an operator, done in the browser on the sample data, with the clicks, keys and seconds that each takes. None may take more than six clicks:
//
//   npm run dev -- --sample
//   node test/console/tasks.mjs --url http://localhost:4800 --password SECRET [--only slow-edge,s3] [--keyboard yes]
//
// With --keyboard no mouse is used: each control is reached by Tab and arrow keys. A control that they do not reach fails its task.
//
// Seconds are those of a script, which reads nothing: they count waiting, so that a task before and after a change can be compared. Tasks leave
// their work behind (a disabled token, a partner's token, sources). The gateway must run on this machine, because it scans a folder that a task
// makes. The exit code is 3 if one fails.

const { values, api, browser, newContext, url } = await openGateway({
  only: { type: 'string', default: '' },
  keyboard: { type: 'string', default: '' },
})
const hasMouse = values.keyboard === ''
/** Presses of a key within which a control has to be reached. */
const MOST_KEYS = 400
const only = values.only === '' ? null : new Set(values.only.split(','))
/** Gives a step up. */
const STEP_MS = 30_000
/** Edges write usage, and with it refusals, at most this often. */
const USAGE_MS = 60_000
const MOST_CLICKS = 6

const basemaps = (await api('/basemaps?limit=30')).items
const several = basemaps.filter(({ versions }) => versions.filter(({ available }) => available).length > 1)
const map = several[0]
const active = (await api('/tokens?limit=200&status=active&sort=name')).items

/** @type {[string, string, (hands: any, page: any) => Promise<any>][]} */
const TASKS = [
  ['sign-in', 'sign in, and take the first step', signIn],
  ['source', 'add a source, scan it, read its warnings, see its new map', addSource],
  ['origin', 'issue a token for a web page, with an address that works', tokenWithOrigin],
  ['leaked-prefix', 'find a leaked prefix and disable it', leakedPrefix],
  ['who-used', 'find out who used a map yesterday', whoUsed],
  ['roll-back', 'change a default version and roll back', rollBack],
  ['slice', 'slice and watch', slice],
  ['left-out', 'find out why a scan left something out', leftOut],
  ['slow-edge', 'find out which edge is slow', slowEdge],
  ['partner', 'give a partner three maps for 30 days', partner],
  ['retry', 'retry the failed pushes', retry],
  ['expiry', 'set an expiry of 50 tokens', expiry],
  ['grant', 'change a grant', changeGrant],
  ['restyle', 'upload a GeoJSON and change its colours', restyle],
  ['refused', 'find out why somebody gets 403', refused],
  ['choices', 'choose language and colours, which other pages keep', choices],
  ['s3', 'add an S3 source without credentials, and learn where to set them', s3Source],
]

const rows = []
try {
  for (const [id, task, run] of TASKS) if (only === null || only.has(id)) rows.push(await timed(task, run))
} finally {
  await browser.close()
}
console.table(rows)
process.exitCode = rows.every(({ result }) => !result.startsWith('failed')) ? 0 : 3

/** Measures one task from the overview on, as a separate visit. */
async function timed(task, run) {
  const context = await newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  context.setDefaultTimeout(STEP_MS)
  const page = await context.newPage()
  await page.goto(`${url}/admin/`)
  await page.locator('.findings li').first().waitFor()
  const count = { clicks: 0, keys: 0 }
  const begun = performance.now()
  let result = 'done'
  try {
    result = (await run(handsOf(page, count), page)) ?? result
  } catch (error) {
    result = `failed: ${error.message.split('\n').slice(0, 2).join(' ').slice(0, 150)}`
  }
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  await context.close()
  if (result === 'done' && count.clicks > MOST_CLICKS) result = `failed: more than ${MOST_CLICKS} clicks`
  return { task, clicks: count.clicks, keys: count.keys, seconds, result }
}

/** Returns the actions of an operator, which count their clicks and keys. */
function handsOf(page, count) {
  const click = async (locator) => {
    count.clicks++
    if (hasMouse) return locator.click()
    const kind = await reach(page, locator)
    await page.keyboard.press(kind === 'checkbox' || kind === 'radio' ? 'Space' : 'Enter')
  }
  const type = async (locator, text) => {
    count.keys += text.length
    if (hasMouse) return locator.fill(text)
    const kind = await reach(page, locator)
    // The parts of a date have their own order in each language.
    if (kind === 'date' || kind === 'datetime-local') return locator.fill(text)
    await page.keyboard.press('Control+a')
    await page.keyboard.type(text)
  }
  const press = async (key) => {
    count.keys++
    await page.keyboard.press(key)
  }
  return {
    count,
    click,
    type,
    press,
    button: (name, within = page) => click(within.getByRole('button', { name, exact: true }).first()),
    link: (name) => click(page.getByRole('link', { name, exact: true }).first()),
    /** By the palette: it opens by a shortcut, and finds by code, name or prefix. */
    async find(text) {
      await press('Control+k')
      const palette = page.getByRole('dialog')
      await type(palette.getByRole('searchbox').or(palette.getByRole('textbox')).first(), text)
      await click(palette.getByText(text, { exact: false }).first())
    },
  }
}

/** Moves the focus to a control by the keys that its role has, and returns its kind. Throws if no key reaches it. */
async function reach(page, locator) {
  await locator.waitFor({ state: 'attached' })
  for (let key = 0; key < MOST_KEYS; key++) {
    const { isThere, kind, next } = await locator.evaluate((element) => {
      const target = element.closest('label')?.control ?? element.querySelector('input') ?? element
      const control = target.closest('a, button, input, select, textarea, summary, [role], [tabindex]') ?? target
      const role = control.getAttribute('role') ?? ''
      const active = document.activeElement
      // The focus stays in the field of a list while arrow keys go through its options.
      const isThere = active === control || control.matches('[data-combobox-selected], [data-selected]')
      const isSameGroup =
        control instanceof HTMLInputElement &&
        control.type === 'radio' &&
        active instanceof HTMLInputElement &&
        active.name === control.name
      const isTab = role === 'tab' && active?.getAttribute('role') === 'tab'
      const isBelow = control.tabIndex < 0 && role !== 'tab'
      const next = isTab ? 'ArrowRight' : isSameGroup || isBelow ? 'ArrowDown' : 'Tab'
      return { isThere, kind: control.type ?? role, next }
    })
    if (isThere) return kind
    await page.keyboard.press(next)
  }
  throw new Error(`no key reaches ${locator}`)
}

async function leakedPrefix(hands, page) {
  const { prefix } = active.at(-1)
  await hands.press('Control+k')
  const palette = page.getByRole('dialog')
  await hands.type(palette.getByPlaceholder(/Search/), prefix)
  await hands.click(palette.getByText(active.at(-1).name).first())
  await hands.button('Disable')
  await hands.button('Disable', page.getByRole('dialog'))
  await page.getByText('edge processes confirmed').waitFor()
}

async function whoUsed(hands, page) {
  await hands.link('Basemaps')
  await hands.click(page.getByRole('link', { name: map.name }).first())
  await hands.click(page.getByRole('tab', { name: 'Usage' }))
  const section = page.getByRole('region', { name: 'Who used this map' })
  await hands.click(section.getByText('Yesterday', { exact: true }))
  await section.locator('tbody tr, p').first().waitFor()
}

async function rollBack(hands, page) {
  await hands.link('Basemaps')
  await hands.click(page.getByRole('link', { name: map.name }).first())
  await hands.click(page.getByRole('button', { name: 'Make default' }).first())
  await hands.click(page.getByRole('dialog').getByRole('button', { name: /^(Make default|Switch)/ }))
  await hands.button('Undo')
  await page.getByText('Undone').first().waitFor()
}

async function slice(hands, page) {
  await hands.link('Slicing')
  await hands.click(page.getByRole('link', { name: 'Slice images' }))
  await hands.button('Choose images')
  const dialog = page.getByRole('dialog')
  // In the only directory of SLICE_SOURCE_ROOTS; `npm run dev -- --sample` sets it.
  await hands.click(dialog.getByRole('checkbox', { name: 'blue-marble.jpg' }))
  await hands.click(dialog.getByRole('button', { name: /^Add/ }))
  await hands.type(page.getByRole('combobox', { name: 'Layer code' }), `timed-${Date.now()}`)
  await page.getByText(/resolution of the images/).waitFor()
  await hands.button('Submit the job')
  await page.getByText('100%').first().waitFor({ timeout: 120_000 })
  await page.getByText('Succeeded').first().waitFor()
}

async function leftOut(hands, page) {
  await hands.link('Scan sources')
  await hands.click(page.locator('tbody tr').filter({ hasText: 'warning' }).getByRole('link').first())
  await page
    .getByText(/is left out|not served|cannot be|left out/i)
    .first()
    .waitFor()
}

async function slowEdge(hands, page) {
  await hands.link('Edges')
  await page.getByRole('columnheader', { name: 'p95' }).waitFor()
  await page.locator('tbody tr').first().waitFor()
}

async function partner(hands, page) {
  await hands.link('Tokens')
  await hands.link('Give a partner access')
  await hands.type(page.getByLabel('Partner'), 'Harbour authority')
  for (const { code } of basemaps.slice(0, 3)) {
    const field = page.locator('.mantine-MultiSelect-inputField').first()
    await hands.type(field, code)
    await hands.click(page.locator('[data-combobox-option]:visible').first())
  }
  // The list of maps lies over the button.
  await hands.press('Tab')
  await hands.button('Give access')
  await page
    .getByText(/bmp_\w{9,}/)
    .first()
    .waitFor()
}

async function retry(hands, page) {
  await hands.link('Pushes')
  await hands.click(page.getByRole('checkbox', { name: 'Select all rows of this page' }))
  const all = page.getByRole('button', { name: /^Select all \d+ that match/ })
  if ((await all.count()) > 0) await hands.click(all)
  await hands.click(page.getByRole('region', { name: /selected/ }).getByRole('button', { name: 'Retry', exact: true }))
  await hands.click(page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }))
  return (await page.getByRole('dialog').getByRole('status').first().textContent()) ?? undefined
}

async function changeGrant(hands, page) {
  await hands.link('Tokens')
  const token = active.find(({ basemap_codes: codes }) => !codes.includes('*'))
  await hands.type(page.getByRole('searchbox', { name: 'Search tokens' }), token.prefix)
  await hands.click(page.getByRole('link', { name: token.name }).first())
  await hands.click(page.getByRole('radio', { name: 'All, present and future' }).first())
  await hands.button('Save')
  await page.getByText(/saved/i).first().waitFor()
}

async function signIn(hands) {
  const context = await newContext({ extraHTTPHeaders: {}, viewport: { width: 1440, height: 900 } })
  context.setDefaultTimeout(STEP_MS)
  const page = await context.newPage()
  const own = handsOf(page, hands.count)
  try {
    await page.goto(url)
    await own.click(page.getByRole('link', { name: 'Open the console' }))
    await own.type(page.getByLabel('User name'), values.user)
    await own.type(page.getByLabel('Password'), values.password)
    await own.button('Sign in')
    await own.link('Scan sources')
    await page.getByRole('link', { name: 'Add a scan source' }).first().waitFor()
  } finally {
    await context.close()
  }
}

async function addSource(hands, page) {
  const code = `new-${Date.now()}`
  const folder = await mkdtemp(join(tmpdir(), 'tasks-'))
  const tiles = join(folder, `${code}-map/1/0/0`)
  await mkdir(tiles, { recursive: true })
  const picture = sharp({ create: { width: 256, height: 256, channels: 3, background: '#375' } })
  await writeFile(join(tiles, '0.png'), await picture.png().toBuffer())
  await writeFile(join(folder, 'broken.pmtiles'), 'this is no archive')
  await hands.link('Scan sources')
  await hands.click(page.getByRole('link', { name: 'Add a scan source' }).first())
  await hands.type(page.getByLabel('Code'), code)
  await hands.type(page.getByLabel('Path'), folder)
  await hands.button('Save and scan')
  await hands.click(page.getByRole('button', { name: '1 warning', exact: true }))
  await page
    .getByText(/broken\.pmtiles/)
    .first()
    .waitFor()
  await hands.click(
    page
      .getByRole('link', { name: /^Show the \d+ found/ })
      .or(page.getByRole('link', { name: 'Show basemaps' }))
      .first(),
  )
  await hands.click(page.getByRole('link', { name: `${code}-map` }).first())
  await page.locator('canvas.maplibregl-canvas').first().waitFor()
}

async function tokenWithOrigin(hands, page) {
  const origin = 'https://maps.example.org'
  await hands.link('Tokens')
  await hands.link('Issue a token')
  await hands.type(page.getByLabel('Name'), 'Website of the harbour')
  await hands.click(page.getByRole('radio', { name: 'All, present and future' }).first())
  await hands.type(
    page
      .getByRole('combobox', { name: 'Web pages that may use it' })
      .or(page.getByRole('textbox', { name: 'Web pages that may use it' }))
      .first(),
    origin,
  )
  await hands.press('Enter')
  await hands.button('Issue a token')
  const dialog = page.getByRole('dialog')
  const command =
    (await dialog
      .getByText(/^curl /)
      .first()
      .textContent()) ?? ''
  const address = (command.match(/https?:\/\/[^\s'"]+/g) ?? []).find((one) => !one.startsWith(origin)) ?? ''
  const token = /bmp_\w{38}/.exec((await dialog.textContent()) ?? '')?.[0] ?? ''
  if (!command.includes(origin)) throw new Error('the command lacks the origin')
  const answer = await fetch(address, { headers: { origin, 'x-access-token': token } })
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`)
}

async function expiry(hands, page) {
  await hands.link('Tokens')
  hands.count.clicks++
  if (!hasMouse) await reach(page, page.getByLabel('Rows on a page'))
  await page.getByLabel('Rows on a page').selectOption('50')
  await page.locator('tbody tr').nth(49).waitFor()
  await hands.click(page.getByRole('checkbox', { name: 'Select all rows of this page' }))
  await hands.click(page.getByRole('region', { name: /selected/ }).getByRole('button', { name: 'Set an expiry' }))
  const dialog = page.getByRole('dialog')
  await hands.type(dialog.getByLabel('Valid until'), '2037-01-01')
  await hands.click(dialog.getByRole('button', { name: 'Set an expiry', exact: true }))
  await dialog.getByText('50 of 50 done').first().waitFor()
}

async function restyle(hands, page) {
  await hands.link('Scan sources')
  await hands.link('Upload a file')
  const geojson = { type: 'Point', coordinates: [8.5, 53.2] }
  const buffer = Buffer.from(JSON.stringify({ type: 'Feature', properties: { name: 'Pier' }, geometry: geojson }))
  const name = `pier-${Date.now()}.geojson`
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/geo+json', buffer })
  await hands.button('Upload')
  await page.waitForURL(/\/vectors\/pier-/)
  await hands.link('Make a style')
  await hands.click(page.getByRole('button', { name: /points$/ }))
  await hands.type(page.getByRole('textbox', { name: 'Colour', exact: true }), '#7b1fa2')
  await hands.button('Save as a new style')
  await page.waitForURL(/\/styles\/pier-.*\/edit/)
}

async function refused(hands, page) {
  const { id, token, prefix } = await api('/tokens', {
    name: 'Refused website',
    basemap_codes: ['*'],
    allowed_origins: ['https://elsewhere.example.org'],
  })
  const answer = await fetch(`${url}/tiles/${map.code}/tilejson.json`, { headers: { 'x-access-token': token } })
  if (answer.status !== 403) throw new Error(`the token was not refused: ${answer.status}`)
  const until = performance.now() + USAGE_MS
  while ((await api(`/tokens/${id}`)).refused_by.origin === undefined) {
    if (performance.now() > until) throw new Error('the refusal was not written')
    await page.waitForTimeout(1_000)
  }
  await hands.find(prefix)
  await page.getByText('Origin not allowed: once,').waitFor()
}

async function choices(hands, page) {
  await hands.button('Language')
  await hands.click(page.getByRole('menuitemradio', { name: '中文' }))
  await hands.button('配色')
  await hands.click(page.getByRole('menuitemradio', { name: '深色' }))
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.goto(url)
  await page.locator('html.dark[lang=zh-CN]').waitFor()
  await page.goto(`${url}/docs/zh/`)
  await page.locator('html.dark').waitFor()
  await page.goto(`${url}/admin/`)
  await page.locator('html[data-mantine-color-scheme=dark][lang=zh-CN]').waitFor()
}

async function s3Source(hands, page) {
  await hands.link('Scan sources')
  await hands.click(page.getByRole('link', { name: 'Add a scan source' }).first())
  await hands.type(page.getByLabel('Code'), `s3-${Date.now()}`)
  await hands.type(page.getByLabel('Path'), 's3://survey-office/maps')
  await hands.button('Test')
  await page.getByText(/AWS_ACCESS_KEY_ID/).waitFor()
}
