/** Time without moving the pointer or scrolling after which a reader counts as idle. */
const IDLE_AFTER_MS = 60_000

let lastInput = performance.now()

/** Records the activity of a person until the page is closed. */
export function watchActivity(): void {
  const note = () => {
    lastInput = performance.now()
  }
  for (const event of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove']) {
    window.addEventListener(event, note, { passive: true, capture: true })
  }
}

/** Returns the header that marks automatic requests of the page, so that they do not extend an unused session. */
export function backgroundHeader(): Readonly<Record<string, string>> {
  return performance.now() - lastInput > IDLE_AFTER_MS ? { 'X-Background': '1' } : {}
}
