import type { DrawAnswer, DrawTask } from '@gateway/contracts/drawing.js'
import { treeMemory, treeWaitMs } from '@gateway/core/processes/work-limits.js'
import { Browser } from './browser.js'
import { type Drawn, Exchange } from './exchange.js'

/** A browser is replaced after so many pictures, or when it has so much memory: it keeps something of each style. */
const MOST_PICTURES = 1_000
const MOST_MEMORY = 2 ** 30
/** Time in ms in which the page of a new browser must ask for its first task, on a machine that has more to do. */
const START_MS = 30_000
/** Time in ms without an answered request of the page after which a picture counts as hanging. */
const PROGRESS_MS = 20_000
/** Time in ms for one picture, also of a style that never stops to load. */
const PICTURE_MS = 45_000
const LOOK_MS = 1_000
const ENDED = 'the browser has ended'

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

  async draw(task: DrawTask, onProgress: () => void): Promise<Outcome> {
    const drawn = await this.#drawOnce(task, onProgress)
    // Something else may have killed the browser. If the style did, it does so again.
    if (drawn.ok || !drawn.isOfStyle || drawn.reason !== ENDED) return drawn
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
    // Time in which a busy machine let the browser wait for a processor does not count.
    const clock = () => performance.now() - treeWaitMs(browser.pid)
    const begun = clock()
    let progressed = begun
    const timer = setInterval(() => {
      const now = clock()
      if (now - progressed > PROGRESS_MS) this.#end(`there was no progress for ${PROGRESS_MS / 1000} s`)
      else if (now - begun > PICTURE_MS) this.#end(`it takes longer than ${PICTURE_MS / 1000} s`)
    }, LOOK_MS)
    try {
      return await exchange.draw(task, () => {
        progressed = clock()
        onProgress()
      })
    } finally {
      clearInterval(timer)
    }
  }

  async #start(program: string, onProgress: () => void): Promise<Open | null> {
    const open = await this.#tryStart(program)
    if (open !== null || !this.#hasSandbox) return open
    onProgress()
    this.#hasSandbox = false
    const unguarded = await this.#tryStart(program)
    if (unguarded !== null)
      process.stderr.write('the renderer: the kernel permits no sandbox here, so Chromium runs without one\n')
    else this.#hasSandbox = true
    return unguarded
  }

  /** Resolves with null if the browser ends, or its page does not ask for a task in time. */
  async #tryStart(program: string): Promise<Open | null> {
    const exchange = new Exchange()
    const port = await exchange.open()
    return new Promise((resolve) => {
      const browser = new Browser(program, port, this.#hasSandbox, () => {
        clearTimeout(timer)
        if (this.#open?.browser === browser) this.#open = null
        exchange.fail(ENDED)
        exchange.close()
        resolve(null)
      })
      const timer = setTimeout(() => browser.end(), START_MS)
      exchange.watch(() => browser.end())
      void exchange.ready().then(() => {
        clearTimeout(timer)
        this.#open = { browser, exchange, pictures: 0 }
        resolve(this.#open)
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
