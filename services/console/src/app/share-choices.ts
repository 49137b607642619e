/** Names under which the browser keeps the choices of the console, and those of the documentation. */
const LANGUAGE = 'console.language'
const SCHEME = 'mantine-color-scheme-value'
const DOCUMENTATION_SCHEME = 'vitepress-theme-appearance'

const YEAR_SECONDS = 31_536_000

/**
 * Passes a choice on to pages outside the console: in a cookie to those that the service makes, which have no scripts, and to the documentation.
 * A choice that was passed on is not repeated, so that another one in the documentation stays.
 */
export function shareChoices(): void {
  share('gateway_language', localStorage.getItem(LANGUAGE))
  const scheme = localStorage.getItem(SCHEME)
  if (share('gateway_scheme', scheme)) localStorage.setItem(DOCUMENTATION_SCHEME, scheme ?? 'auto')
}

/** Returns true if the choice is a new one. */
function share(name: string, value: string | null): boolean {
  const cookie = `${name}=${value}`
  if (value === null || document.cookie.split('; ').includes(cookie)) return false
  // biome-ignore lint/suspicious/noDocumentCookie: the other way exists only for pages over https
  document.cookie = `${cookie}; Path=/; Max-Age=${YEAR_SECONDS}; SameSite=Lax`
  return true
}
