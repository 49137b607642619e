/** Time without moving the pointer or scrolling after which a reader counts as idle. */
const IDLE_AFTER_MS = 60_000

let lastInput = performance.now()

/** Minimum interval of reports to `onActive`. */
const REPORT_EVERY_MS = 30_000

/** Records the activity of a person until the page is closed. `onActive` is called at the first input after a pause, and again while it goes on. */
export function watchActivity(onActive: () => void): void {
  let lastReport = performance.now()
  const note = () => {
    lastInput = performance.now()
    if (lastInput - lastReport < REPORT_EVERY_MS) return
    lastReport = lastInput
    onActive()
  }
  for (const event of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove']) {
    window.addEventListener(event, note, { passive: true, capture: true })
  }
}

/** Returns the header that marks automatic requests of the page, so that they do not extend an unused session. */
export function backgroundHeader(): Readonly<Record<string, string>> {
  return performance.now() - lastInput > IDLE_AFTER_MS ? { 'X-Background': '1' } : {}
}
