import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { ADMIN_PASSWORD, ADMIN_USER, type Gateway } from '../harness/gateway.js'

/** Screenshots for inspection after a run with SCREENSHOTS=keep; ignored by git. */
const ARTIFACTS = fileURLToPath(new URL('../artifacts/console/', import.meta.url))

/** A service token beyond the prefix by which it is listed and searched. */
const TOKEN = /bmp_\w{9}/

/** Timeout in ms of what hangs: a machine with ten times as many processes as cores needs more than a minute for the largest page. */
const WAIT_MS = 150_000

export const DESKTOP = { width: 1280, height: 860 }
export const PHONE = { width: 390, height: 844 }

/** Faults of a page: errors in its console, requests to other hosts, credentials in URLs. */
export interface Watched {
  readonly page: Page
  readonly context: BrowserContext
  /** throws if there was a fault */
  expectClean(): Promise<void>
  /** allows console errors that the test provokes */
  allowConsole(pattern: RegExp): void
}

/** Debian's Chromium without a window for the tests of a file: it needs half of the processor time of the one with a window, which draws that too. */
export function useBrowser(): (gateway: Gateway, options?: BrowserContextOptions) => Promise<Watched> {
  let browser: Browser | undefined
  beforeAll(async () => {
    await mkdir(ARTIFACTS, { recursive: true })
    browser = await chromium.launch({
      executablePath: '/usr/lib/chromium/chromium-headless-shell',
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    })
  })
  afterAll(() => browser?.close())
  return async (gateway, options = {}) => {
    const context = await (browser as Browser).newContext({
      viewport: DESKTOP,
      locale: 'en-GB',
      colorScheme: 'light',
      // An element that fades in has too little contrast.
      reducedMotion: 'reduce',
      httpCredentials: { username: ADMIN_USER, password: ADMIN_PASSWORD },
      permissions: ['clipboard-read', 'clipboard-write'],
      baseURL: gateway.url,
      ...options,
    })
    context.setDefaultTimeout(WAIT_MS)
    // An open page keeps sending requests, and a route that responds after the test would reject unhandled.
    onTestFinished(async () => {
      for (const routed of [context, ...context.pages()]) await routed.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    })
    return watch(context, await context.newPage(), gateway.url)
  }
}

function watch(context: BrowserContext, page: Page, origin: string): Watched {
  const problems: string[] = []
  const allowed: RegExp[] = []
  const failures: string[] = []
  // A time-out error does not name the cause; the state of the page does.
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    const text = await inPage<string>(page, 'document.body.innerText.slice(0, 2000)').catch(String)
    globalThis.console.error([`The page ${page.url()} at the failure:`, ...problems, ...failures, text].join('\n'))
  })
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    const text = `${message.text()} (${message.location().url})`
    if (!allowed.some((pattern) => pattern.test(text))) problems.push(`console: ${text}`)
  })
  page.on('requestfailed', (request) => failures.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!/^(blob|data):/.test(url) && new URL(url).origin !== origin) problems.push(`a request to elsewhere: ${url}`)
    if (TOKEN.test(url)) problems.push(`a credential in an address: ${url}`)
  })
  return {
    page,
    context,
    allowConsole: (pattern) => void allowed.push(pattern),
    async expectClean() {
      const stored = await inPage<string>(
        page,
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      )
      if (TOKEN.test(stored)) problems.push('a credential in the browser’s storage')
      if (TOKEN.test(page.url())) problems.push('a credential in the address bar')
      expect(problems).toEqual([])
    },
  }
}

/** Evaluates an expression in the page. These tests are compiled without a browser's types. */
export function inPage<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate<T>(expression)
}

/** Opens a page of the console and waits until it is rendered and handles keys. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(`/admin${path}`, { waitUntil: 'commit' })
  // A rendered page may not handle keys yet; the same effects that register keys set the window title.
  await until(page, 'document.querySelector("h1") !== null && document.title.includes(" · ")')
}

/** Waits until no part of the page is loading. */
export async function settled(page: Page): Promise<void> {
  await until(page, 'document.querySelector("[role=status][aria-label]") === null')
}

/**
 * Waits for a condition in each frame of the page. A search by roles costs more of the page's processor time than the page itself, and the page
 * forbids what `waitForFunction` does.
 */
function until(page: Page, condition: string): Promise<null> {
  return inPage(
    page,
    `(async () => {
      const end = performance.now() + ${WAIT_MS}
      while (!(${condition})) {
        if (performance.now() > end) throw new Error(${JSON.stringify(`not within ${WAIT_MS} ms: ${condition}`)})
        await new Promise(requestAnimationFrame)
      }
      return null
    })()`,
  )
}

/** Takes a screenshot for inspection after the run, if those are kept: one takes as much processor time as a small page. */
export async function shot(page: Page, name: string, fullPage = true): Promise<void> {
  if (process.env.SCREENSHOTS !== 'keep') return
  // Fixed elements would be drawn at the current scroll position.
  if (fullPage) await inPage(page, 'window.scrollTo(0, 0)')
  await page.screenshot({ path: `${ARTIFACTS}${name}.png`, fullPage })
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Expects no violation that axe-core rates as serious or critical, with all of its rules. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  // Runs axe-core directly for one document: its own driver takes twice the processor time, for frames that do not occur here.
  if (!(await inPage<boolean>(page, '"axe" in window'))) await inPage(page, `${AXE}; null`)
  await transitionsEnded(page)
  const serious = await inPage<readonly string[]>(
    page,
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
  )
  expect(serious.map((violation) => `${where}: ${violation}`)).toEqual([])
}

/**
 * Waits until all transitions have ended: an element in transition has neither its old nor its new state. Waits two frames first, since a
 * page reacts to a new width or colour scheme a frame later. Ignores endless animations such as loading indicators.
 */
function transitionsEnded(page: Page): Promise<null> {
  return inPage(
    page,
    `(async () => {
      for (;;) {
        for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame)
        const moving = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
        if (moving.length === 0) return null
        await Promise.allSettled(moving.map(({ finished }) => finished))
      }
    })()`,
  )
}

/** Waits until the middle of the map, where no control lies over it, shows more than its background. */
export async function mapIsDrawn(page: Page, nth = 0): Promise<void> {
  const canvas = page.locator('canvas.maplibregl-canvas').nth(nth)
  await canvas.waitFor()
  for (;;) {
    const picture = sharp(await canvas.screenshot())
    const { width = 0, height = 0 } = await picture.metadata()
    const middle = { left: width >> 2, top: height >> 2, width: width >> 1, height: height >> 1 }
    const { channels } = await picture.extract(middle).stats()
    if (GROUND.some((value, i) => Math.abs((channels[i]?.mean ?? value) - value) > MIN_DIFFERENCE)) return
    await page.waitForTimeout(LOOK_AGAIN_MS)
  }
}

/** `--map-background` of the light scheme, #dfe6e9. */
const GROUND = [223, 230, 233]
const MIN_DIFFERENCE = 15
const LOOK_AGAIN_MS = 100
