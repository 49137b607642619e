/** Two of these within so short a time mean that loading anew does not help. */
const ONCE_WITHIN_MS = 10_000
const STORED_AS = 'console.reloaded-at'

/** After an upgrade the parts of a page that is still open are gone from the server: it is loaded anew, once. */
export function reloadWhenOutdated(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(STORED_AS) ?? 0)
    if (Date.now() - last < ONCE_WITHIN_MS) return
    event.preventDefault()
    sessionStorage.setItem(STORED_AS, String(Date.now()))
    window.location.reload()
  })
}
