import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { readEnvFile } from '@gateway/core/settings/env-file.js'
import { SETTINGS, type SettingName } from '@gateway/core/settings/schema.js'
import sharp from 'sharp'
import { beforeAll, describe, expect, test } from 'vitest'
import { targetOf } from '../../services/tools/docs/linked-files.mjs'
import { makeCertificate } from '../harness/certificates.js'
import { freshDatabase } from '../harness/database.js'
import { environment } from '../harness/environment.js'
import type { Gateway } from '../harness/gateway.js'
import { type Printed, printed, StartHome, terminate } from '../harness/start-command.js'
import { useResource } from '../harness/use-resource.js'
import { DESKTOP, expectAccessible, inPage, PHONE, shot, useBrowser } from './console-browser.js'
import { type Block, CHECKOUT, comesOut, KINDS, nameOf, readPages } from './docs-pages.js'

const execute = promisify(execFile)
const pages = readPages()
const blocks = [...pages.values()].flat()
/** All pages in Chinese except the home page have an English page of the same name. */
const CHINESE = [...pages.keys()].filter((page) => page.startsWith('docs/zh/') && page !== 'docs/zh/index.md')

/** One start for all tests, with the demo's data, as on the first page. */
const home = useResource(StartHome.make, (made) => made.remove())
const database = useResource(freshDatabase, (made) => made.drop())
// Skips the set-up, since the code under test is already built.
const start = useResource(
  () => home().run('start', { DATABASE_URL: database().url, EDGE_WORKERS: '1', SETUP: 'off' }),
  async (made) => {
    await terminate(made)
    expect(await home().left()).toEqual([])
  },
)
let lines: Printed
/** The checkout, reduced to the files that the pages' commands use. */
let cwd: string

beforeAll(async () => {
  lines = await printed(start())
  cwd = join(home().dir, 'checkout')
  await mkdir(join(cwd, 'config'), { recursive: true })
  await symlink(home().configFile, join(cwd, 'config/service.env'))
  await symlink(home().dataDir, join(cwd, 'var'))
})

const openBrowser = useBrowser()
const open = (options = {}) => openBrowser({ url: home().url } as Gateway, options)

/** Adapts a block to this gateway: pages use the default addresses. */
const here = (code: string) =>
  code.replaceAll('http://127.0.0.1:8910', home().url).replaceAll('http://127.0.0.1:8911', home().controlUrl)

test('every block of the documentation has a mark', () => {
  const unmarked = blocks.filter(({ language, mark }) => language !== 'mermaid' && !KINDS.test(mark))
  expect(unmarked.map(nameOf)).toEqual([])
  expect(blocks.length).toBeGreaterThan(50)
})

test('pages in Chinese show the same commands as those in English', () => {
  const code = (page: string) => pages.get(page)?.map(({ language, mark, code }) => ({ language, mark, code }))
  expect(CHINESE.length).toBeGreaterThan(9)
  for (const page of CHINESE) expect([page, code(page)]).toEqual([page, code(page.replace('/zh', ''))])
})

test('pages in Chinese have the sections, lists, tables, names and links of those in English', async () => {
  for (const page of CHINESE)
    expect({ page, ...(await shapeOf(page)) }).toEqual({ page, ...(await shapeOf(page.replace('/zh', ''))) })
})

/**
 * Returns levels of headings, numbers of list items and table rows, names and values (inline code), and links. A link to a page in Chinese
 * counts as one to the page in English, and a link to a heading as one to its page.
 */
async function shapeOf(page: string) {
  const text = (await readFile(join(CHECKOUT, page), 'utf8')).replaceAll(/^ *```.*?^ *```$/gms, '')
  const lines = text.split('\n')
  const links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, href = '']) => targetOf(page, href) ?? href)
  return {
    headings: lines.map((line) => /^#+(?= )/.exec(line)?.[0]).filter((level) => level !== undefined),
    items: lines.filter((line) => /^ *([-*]|\d+\.) /.test(line)).length,
    rows: lines.filter((line) => line.startsWith('| ')).length,
    codes: [...new Set(Array.from(text.matchAll(/`[^`\n]+`/g), ([code]) => code))].sort(),
    links: links.map((link) => link.replace(/^docs\/zh\//, 'docs/').replace(/^#.*/, '#')).sort(),
  }
}

test('the start command prints the output shown on the first page', () => {
  const [command, shown] = pages.get('docs/start/first-map.md') ?? []
  expect([command?.mark, command?.code]).toEqual(['starts', 'npm start\n'])
  const words = start()
    .lines.filter(({ from }) => from === 'stderr')
    .map(({ raw }) => raw)
  const text = words.slice(words.findIndex((line) => /^ {2}Console/.test(line))).join('\n')
  expect(text.trim()).toSatisfy((all: string) => comesOut({ ...(shown as Block), code: here(shown?.code ?? '') }, all))
})

const MARK = '\x1e'
const INTERPRETERS: Readonly<Record<string, string>> = { sh: '', python: 'python3 -', js: 'node --input-type=module -' }

describe('the commands of', () => {
  const runnable = [...pages].filter(([page, of]) => !page.includes('/zh/') && of.some(({ mark }) => mark === 'run'))

  test.each(runnable)('%s run and print the output shown', async (_page, of) => {
    for (const { mark, code } of of) {
      const [, file] = /^saved-as=(\S+)$/.exec(mark) ?? []
      if (file !== undefined) await writeFile(join(cwd, file), here(code))
    }
    const run = of.filter(({ mark }) => mark === 'run')
    const script = run.map(({ language, code }) => `${interpreted(language, here(code))}\nprintf '${MARK}'\n`).join('')
    const env = { ...environment('', {}), HOME: home().dir, CONFIG_FILE: home().configFile }
    const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, maxBuffer: 1 << 26 })
    const out = stdout.split(MARK)
    const wrong = of.flatMap((block, i) => {
      if (block.mark !== 'prints' || of[i - 1]?.mark !== 'run') return []
      const actual = out[run.indexOf(of[i - 1] as Block)] ?? ''
      return comesOut({ ...block, code: here(block.code) }, actual) ? [] : [{ shown: nameOf(block), actual }]
    })
    expect(wrong).toEqual([])
  })
})

function interpreted(language: string, code: string): string {
  const interpreter = INTERPRETERS[language]
  if (interpreter === undefined) throw new Error(`nothing runs ${language}`)
  return interpreter === '' ? code : `${interpreter} <<'END OF BLOCK'\n${code}END OF BLOCK`
}

test('every page of HTML draws a map', async () => {
  const { page } = await open({ viewport: { width: 512, height: 512 } })
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    const expected = !protocol.startsWith('http') || origin === home().url || origin === 'https://unpkg.com'
    if (!expected) problems.push(`a request to elsewhere: ${request.url()}`)
  })
  // Serves the installed libraries instead of those on the network, in the version that the page names.
  await page.route('https://unpkg.com/**', async (route) => {
    const [, name = '', version, file = ''] = /unpkg\.com\/([^@]+)@([^/]+)\/(.+)$/.exec(route.request().url()) ?? []
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    expect(JSON.parse(await readFile(manifest, 'utf8')).version).toBe(version)
    await route.fulfill({ path: join(dirname(manifest), file) })
  })
  const drawn = blocks.filter(({ mark, page: of }) => mark === 'draws' && !of.includes('/zh/'))
  for (const block of drawn) {
    const file = join(home().dir, 'page.html')
    const token = new URL(lines.TileJSON ?? '').searchParams.get('token') ?? ''
    await writeFile(
      file,
      here(block.code)
        .replaceAll('PASTE THE TILEJSON ADDRESS', lines.TileJSON ?? '')
        .replaceAll('YOUR TOKEN', token),
    )
    await page.goto(`file://${file}`)
    const deviation = async () => {
      const picture = await page.screenshot({ clip: { x: 64, y: 64, width: 384, height: 384 } })
      return Math.max(...(await sharp(picture).stats()).channels.map(({ stdev }) => stdev))
    }
    await expect.poll(deviation, { message: nameOf(block), timeout: 60_000 }).toBeGreaterThan(12)
    await shot(page, `docs-${block.page.replaceAll(/\W/g, '-')}-${block.line}`)
  }
  expect([drawn.length > 3, problems]).toEqual([true, []])
})

test('the settings that pages show are known, with values that are accepted', () => {
  const shown = blocks
    .filter(({ mark }) => mark === 'settings')
    .map((block) => ({ block, settings: parseEnv(block.code) }))
  expect(shown.length).toBeGreaterThan(3)
  for (const { block, settings } of shown)
    for (const [name, value] of Object.entries(settings))
      expect([nameOf(block), name, SETTINGS[name as SettingName]?.safeParse(value).success]).toEqual([
        nameOf(block),
        name,
        true,
      ])
})

test('a shell and the gateway read the settings that pages show alike', async () => {
  for (const block of blocks.filter(({ mark }) => mark === 'settings')) {
    const file = join(home().dir, 'shown.env')
    await writeFile(file, block.code)
    const names = Object.keys(readEnvFile(file))
    const show = names.map((name) => `printf '%s\\0' "$${name}"`).join('\n')
    const { stdout } = await execute('sh', ['-euc', `. ${file}\n${show}`])
    expect([nameOf(block), stdout.split('\0').slice(0, -1)]).toEqual([nameOf(block), Object.values(readEnvFile(file))])
  }
})

test('nginx and HAProxy accept the configuration that pages show', async () => {
  const checked = blocks.filter(({ mark }) => mark === 'checks')
  const { certificate, key } = await makeCertificate('maps.example.org')
  const dir = join(home().dir, 'proxies')
  await mkdir(join(dir, 'var'), { recursive: true })
  const nginx = checked.filter(({ language }) => language === 'nginx').map(({ code }) => code)
  const [locations, rest] = [
    nginx.filter((code) => code.startsWith('location')),
    nginx.filter((code) => !code.startsWith('location')),
  ]
  const http = `${rest.join('\n')}\nserver {\nlisten 127.0.0.1:1;\n${locations.join('\n')}\n}`
    .replaceAll('/etc/ssl/maps.example.org.pem', certificate)
    .replaceAll('/etc/ssl/maps.example.org.key', key)
    .replaceAll('/var/cache/nginx', dir)
  await writeFile(join(dir, 'nginx.conf'), `pid ${dir}/pid;\nevents {}\nhttp {\naccess_log off;\n${http}\n}\n`)
  await execute('nginx', ['-t', '-q', '-e', 'stderr', '-p', dir, '-c', join(dir, 'nginx.conf')])
  for (const { code } of checked.filter(({ language }) => language === 'haproxy')) {
    const backend = code.startsWith('backend') ? code : `backend gateway\n${code}`
    // A configuration without a listener has nothing to start, which is an error too.
    const listener = 'frontend maps\n    bind 127.0.0.1:1\n    default_backend gateway\n'
    await writeFile(join(dir, 'haproxy.cfg'), `${listener}${backend}`)
    await execute('haproxy', ['-c', '-q', '-f', join(dir, 'haproxy.cfg')])
  }
  expect(checked.length).toBe(5)
  await rm(dirname(certificate), { recursive: true })
})

const DIST = join(CHECKOUT, 'services/tools/docs/dist')
const built = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'))

test('every link of the built pages leads to an existing target: pages, headings, files and pictures', () => {
  const links = built.flatMap((path) => {
    const hrefs = readFileSync(join(DIST, path), 'utf8').matchAll(
      /<(?:a|link|img|script) [^>]*?(?:href|src)="([^"]+)"/g,
    )
    return Array.from(hrefs, ([, href = '']) => ({ path, href }))
  })
  const dead = links.flatMap(({ path, href }) => {
    const url = new URL(href.replaceAll('&amp;', '&'), `http://site/docs/${path}`)
    if (url.host !== 'site' || !url.pathname.startsWith('/docs/')) return []
    const file = join(DIST, decodeURI(url.pathname.slice('/docs/'.length)).replace(/(^|\/)$/, '$1index.html'))
    const fragment = decodeURIComponent(url.hash.slice(1))
    const there = existsSync(file) && (fragment === '' || readFileSync(file, 'utf8').includes(`id="${fragment}"`))
    return there ? [] : [`${path}: ${href}`]
  })
  expect(dead).toEqual([])
  // Links of the install page and of the examples lead to files of the repository.
  for (const file of ['deploy/README.html', 'docs/examples/compose/compose.yaml.txt'])
    expect(links.some(({ href }) => href === `/docs/files/${file}`)).toBe(true)
})

test.each([
  ['light', DESKTOP, ['', 'start/token.html', 'reference/api.html', 'files/deploy/README.html']],
  ['dark', PHONE, ['architecture.html', 'reference/settings.html', 'zh/operate.html']],
] as const)(
  'pages of the site, %s, are accessible, fit, and load nothing from elsewhere',
  async (colorScheme, viewport, paths) => {
    const site = await open({ colorScheme, viewport })
    const { page } = site
    for (const path of paths) {
      await page.goto(`/docs/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect
        .poll(() => inPage(page, 'document.documentElement.classList.contains("dark")'))
        .toBe(colorScheme === 'dark')
      if (path.includes('api')) await page.getByText('POST /api/v1/admin/tokens', { exact: true }).waitFor()
      await expectAccessible(page, `${path} ${colorScheme}`)
      const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect([path, await inPage(page, beyond)]).toEqual([path, 0])
      await shot(page, `docs-${path.replaceAll(/\W/g, '-')}-${colorScheme}`, false)
    }
    await site.expectClean()
  },
)

test.each([
  ['', 'Search', 'withdrawn', /Concepts|Administration/],
  ['zh/', '搜索', '接入自己的', /接\s?入\s?自己\s?的\s?数据/],
  ['zh/', '搜索', '熔断器', /远\s?程\s?数据/],
])('the search of /docs/%s finds pages without any other host', async (path, button, words, found) => {
  const site = await open()
  await site.page.goto(`/docs/${path}`)
  await site.page.getByRole('button', { name: button }).first().click()
  await site.page.getByRole('searchbox').fill(words)
  await site.page.getByRole('option').filter({ hasText: found }).first().waitFor()
  await site.expectClean()
})
