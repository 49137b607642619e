import { escaped, plainPage } from '../platform/http/plain-page.js'
import type { PageTexts } from './page-texts.js'

export interface SignInPage {
  readonly texts: PageTexts
  readonly nonce: string
  /** the host of the provider */
  readonly host: string
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
    lang: t.lang,
    title: `${t.heading} · ${t.title}`,
    nonce,
    main: `<p class="brand">${t.title}</p>
<h1>${t.heading}</h1>
${words}
${advice === undefined ? '' : `<p>${escaped(advice)}</p>`}
<p><a class="button" href="/admin/sign-in/start?to=${target}">${escaped(t.signIn(host))}</a></p>
${offersSignOut ? `<p><a href="/admin/sign-in/leave">${escaped(t.signOutThere(host))}</a></p>` : ''}
${hasPassword ? passwordForm(t, target, opensPassword) : ''}`,
  })
}

function passwordForm(t: PageTexts, target: string, open: boolean): string {
  return `<details${open ? ' open' : ''}>
<summary>${t.password}</summary>
<form method="post" action="/admin/sign-in/password?to=${target}">
<label>${t.user}<input name="user" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="200"></label>
<label>${t.passwordField}<input name="password" type="password" autocomplete="current-password" required maxlength="1000"></label>
<button class="button">${t.submit}</button>
</form>
</details>`
}
