/** A person who reads moves the pointer or scrolls at least so often. */
const IDLE_AFTER_MS = 60_000

let lastInput = performance.now()

/** Notes what a person does, until the page is closed. */
export function watchActivity(): void {
  const note = () => {
    lastInput = performance.now()
  }
  for (const event of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove']) {
    window.addEventListener(event, note, { passive: true, capture: true })
  }
}

/** The header that marks what the page requests by itself, so that a session which nobody uses ends in spite of it. */
export function backgroundHeader(): Readonly<Record<string, string>> {
  return performance.now() - lastInput > IDLE_AFTER_MS ? { 'X-Background': '1' } : {}
}
