import { openGateway } from './gateway.mjs'

// Eleven tasks of an operator, done in the browser on the sample data, with the clicks, keys and seconds that each takes:
//
//   npm run dev -- --sample
//   node test/console/tasks.mjs --url http://localhost:4800 --password SECRET [--only slow-edge,s3]
//
// Seconds are those of a script, which reads nothing: they count waiting, so that a task before and after a change can be compared. Tasks leave
// their work behind (a disabled token, a partner's token, a source). The exit code is 3 if one fails.

const { values, api, browser, newContext, url } = await openGateway({ only: { type: 'string', default: '' } })
const only = values.only === '' ? null : new Set(values.only.split(','))
/** Gives a step up. */
const STEP_MS = 30_000

const basemaps = (await api('/basemaps?limit=30')).items
const several = basemaps.filter(({ versions }) => versions.filter(({ available }) => available).length > 1)
const map = several[0]
const active = (await api('/tokens?limit=200&status=active&sort=name')).items

/** @type {[string, string, (hands: any, page: any) => Promise<any>][]} */
const TASKS = [
  ['leaked-prefix', 'find a leaked prefix and disable it', leakedPrefix],
  ['who-used', 'find out who used a map yesterday', whoUsed],
  ['roll-back', 'change a default version and roll back', rollBack],
  ['slice', 'slice and watch', slice],
  ['left-out', 'find out why a scan left something out', leftOut],
  ['slow-edge', 'find out which edge is slow', slowEdge],
  ['partner', 'give a partner three maps for 30 days', partner],
  ['retry', 'retry the failed pushes', retry],
  ['grant', 'change a grant', changeGrant],
  ['upload', 'upload a GeoJSON', uploadFile],
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
  return { task, clicks: count.clicks, keys: count.keys, seconds, result }
}

/** Returns the actions of an operator, which count their clicks and keys. */
function handsOf(page, count) {
  const click = async (locator) => {
    count.clicks++
    await locator.click()
  }
  const type = async (locator, text) => {
    count.keys += text.length
    await locator.fill(text)
  }
  const press = async (key) => {
    count.keys++
    await page.keyboard.press(key)
  }
  return {
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
  // The directories of SLICE_SOURCE_ROOTS; `npm run dev -- --sample` sets it.
  const folder = dialog.getByRole('button', { name: /imagery$/ })
  await folder.waitFor()
  await hands.click(folder)
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
  await hands.click(
    page
      .getByRole('button', { name: /warning/ })
      .or(page.getByText(/\d+ warning/))
      .first(),
  )
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
  await hands.click(page.getByRole('region', { name: /selected/ }).getByRole('button', { name: 'Retry' }))
  await hands.click(page.getByRole('dialog').getByRole('button', { name: 'Retry' }))
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

async function uploadFile(hands, page) {
  await hands.link('Scan sources')
  await hands.link('Upload a file')
  const geojson = { type: 'Point', coordinates: [8.5, 53.2] }
  const buffer = Buffer.from(JSON.stringify({ type: 'Feature', properties: { name: 'Pier' }, geometry: geojson }))
  const name = `pier-${Date.now()}.geojson`
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/geo+json', buffer })
  await hands.button('Upload')
  await page.waitForURL(/\/vectors\/pier-/)
}

async function s3Source(hands, page) {
  await hands.link('Scan sources')
  await hands.click(page.getByRole('link', { name: 'Add a scan source' }).first())
  await hands.type(page.getByLabel('Code'), `s3-${Date.now()}`)
  await hands.type(page.getByLabel('Path'), 's3://survey-office/maps')
  await hands.button('Test')
  await page.getByText(/AWS_ACCESS_KEY_ID/).waitFor()
}
