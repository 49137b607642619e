import { BROWSER_ENDED, type DrawAnswer, type DrawTask } from '@gateway/contracts/drawing.js'
import { treeMemory, treeProcessorSeconds } from '@gateway/core/processes/work-limits.js'
import { Browser } from './browser.js'
import { type Drawn, Exchange } from './exchange.js'

/** A browser is replaced after so many pictures, or when it has so much memory: it keeps something of each style. */
const MOST_PICTURES = 1_000
const MOST_MEMORY = 2 ** 30
/** Time in ms in which the page of a new browser must ask for its first task; a machine with ten times as many processes as cores needs most of it. */
const START_MS = 120_000
/** Time in ms without work of a processor or an answered request of the page after which a picture counts as hanging. */
const PROGRESS_MS = 20_000
/** Seconds of a processor that count as work: an idle browser uses less in PROGRESS_MS. */
const LEAST_WORK = 1
/** Seconds of a processor for one picture, also of a style that never comes to rest, and those in addition for one of 4096 by 4096 pixels, which takes some 20. */
const PICTURE_SECONDS = { least: 20, ofLargest: 40 }
const LARGEST_PIXELS = 4096 ** 2
const LOOK_MS = 1_000

type Outcome = Extract<Drawn, { ok: true }> | Extract<DrawAnswer, { ok: false }>
interface Open {
  readonly browser: Browser
  readonly exchange: Exchange
  pictures: number
}

/** The browser of this process: started for the first picture, replaced when it is worn out, hangs or has ended. */
export class Studio {
  #open: Open | null = null
  /** false after a browser could start only without its sandbox */
  #hasSandbox = true
  /** true after a browser has started */
  #isProven = false

  async draw(task: DrawTask, onProgress: () => void): Promise<Outcome> {
    const drawn = await this.#drawOnce(task, onProgress)
    // Something else may have killed the browser. If the style did, it does so again.
    if (drawn.ok || !drawn.isOfStyle || drawn.reason !== BROWSER_ENDED) return drawn
    return this.#drawOnce(task, onProgress)
  }

  async #drawOnce(task: DrawTask, onProgress: () => void): Promise<Outcome> {
    const open = this.#open ?? (await this.#start(task.browser.program, onProgress))
    if (open === null) return { ok: false, reason: 'Chromium does not start', isOfStyle: false }
    const drawn = await this.#drawIn(open, task, onProgress)
    open.pictures++
    const hasEnded = this.#open !== open
    if (!hasEnded && (open.pictures >= MOST_PICTURES || treeMemory(open.browser.pid) > MOST_MEMORY)) this.#end()
    return drawn.ok ? drawn : { ...drawn, isOfStyle: hasEnded }
  }

  async #drawIn({ exchange, browser }: Open, task: DrawTask, onProgress: () => void): Promise<Drawn> {
    // On a busy machine a picture takes minutes, so that only work counts.
    const before = treeProcessorSeconds(browser.pid)
    const pixels = task.width * task.height * task.ratio ** 2
    const seconds = Math.round(PICTURE_SECONDS.least + (PICTURE_SECONDS.ofLargest * pixels) / LARGEST_PIXELS)
    let progress = { atMs: performance.now(), used: before }
    const timer = setInterval(() => {
      const now = performance.now()
      const used = treeProcessorSeconds(browser.pid)
      if (used - before > seconds) return this.#end(`it takes more than ${seconds} s of a processor`)
      if (used - progress.used > LEAST_WORK) progress = { atMs: now, used }
      if (now - progress.atMs > PROGRESS_MS) this.#end(`there was no progress for ${PROGRESS_MS / 1000} s`)
    }, LOOK_MS)
    try {
      return await exchange.draw(task, () => {
        progress = { ...progress, atMs: performance.now() }
        onProgress()
      })
    } finally {
      clearInterval(timer)
    }
  }

  async #start(program: string, onProgress: () => void): Promise<Open | null> {
    const open = await this.#tryStart(program, onProgress)
    if (typeof open === 'object') return open
    if (open === 'killed' || this.#isProven || !this.#hasSandbox) return null
    this.#hasSandbox = false
    const unguarded = await this.#tryStart(program, onProgress)
    if (typeof unguarded === 'object') {
      process.stderr.write('the renderer: the kernel permits no sandbox here, so Chromium runs without one\n')
      return unguarded
    }
    this.#hasSandbox = true
    return null
  }

  /** `ended`: the browser ended by itself, as it does without a sandbox that works. `killed`: also if its page did not ask for a task in time. */
  async #tryStart(program: string, onProgress: () => void): Promise<Open | 'ended' | 'killed'> {
    const exchange = new Exchange()
    const port = await exchange.open()
    return new Promise((resolve) => {
      const browser = new Browser(program, port, this.#hasSandbox, (wasKilled) => {
        clearTimeout(timer)
        clearInterval(alive)
        if (this.#open?.browser === browser) this.#open = null
        exchange.fail(BROWSER_ENDED)
        exchange.close()
        resolve(wasKilled ? 'killed' : 'ended')
      })
      const alive = setInterval(onProgress, LOOK_MS)
      const timer = setTimeout(() => browser.end(), START_MS)
      exchange.watch(() => browser.end())
      void exchange.ready().then(() => {
        clearTimeout(timer)
        clearInterval(alive)
        const open = { browser, exchange, pictures: 0 }
        this.#isProven = true
        this.#open = open
        resolve(open)
      })
    })
  }

  #end(reason?: string): void {
    const open = this.#open
    this.#open = null
    if (reason !== undefined) open?.exchange.fail(reason)
    open?.browser.end()
  }
}
