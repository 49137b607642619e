import type { PagePreferences } from '../platform/http/page-preferences.js'
import { escaped, plainPage } from '../platform/http/plain-page.js'
import type { PageTexts } from './page-texts.js'

export interface SignInPage {
  readonly texts: PageTexts
  readonly preferences: PagePreferences
  readonly nonce: string
  /** the host of the provider; null: no provider is configured */
  readonly host: string | null
  /** page to open after the sign-in */
  readonly to: string
  readonly hasPassword: boolean
  /** true if its form is open at once, because the provider does not help or was already tried */
  readonly opensPassword: boolean
  /** sentence above the ways to sign in */
  readonly message: string | null
  /** beneath the message */
  readonly advice?: string
  /** true to also offer a sign-out at the provider */
  readonly offersSignOut: boolean
}

/** Renders the sign-in page. It must work without the console's files, which only operators may load. */
export function signInPage({
  texts: t,
  preferences,
  nonce,
  host,
  to,
  hasPassword,
  opensPassword,
  message,
  advice,
  offersSignOut,
}: SignInPage): string {
  const target = escaped(encodeURIComponent(to))
  const words = message === null ? '' : `<p role="alert" class="message">${escaped(message)}</p>`
  return plainPage({
    ...preferences,
    title: `${t.heading} · ${t.title}`,
    nonce,
    main: `<p class="brand">${t.title}</p>
<h1>${t.heading}</h1>
${words}
${advice === undefined ? '' : `<p>${escaped(advice)}</p>`}
${host === null ? '' : providerLinks(t, target, host, offersSignOut)}
${hasPassword ? passwordForm(t, target, host === null ? null : opensPassword) : ''}`,
  })
}

function providerLinks(t: PageTexts, target: string, host: string, offersSignOut: boolean): string {
  return `<p><a class="button" href="/admin/sign-in/start?to=${target}">${escaped(t.signIn(host))}</a></p>
${offersSignOut ? `<p><a href="/admin/sign-in/leave">${escaped(t.signOutThere(host))}</a></p>` : ''}`
}

/** @param isOpen whether the form is shown next to the provider's button; null: it is the only way */
function passwordForm(t: PageTexts, target: string, isOpen: boolean | null): string {
  const form = `<form method="post" action="/admin/sign-in/password?to=${target}">
<label>${t.user}<input name="user" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="200"></label>
<label>${t.passwordField}<input name="password" type="password" autocomplete="current-password" required maxlength="1000"></label>
<button class="button">${t.submit}</button>
</form>`
  return isOpen === null
    ? form
    : `<details${isOpen ? ' open' : ''}>\n<summary>${t.password}</summary>\n${form}\n</details>`
}
