import { escaped, plainPage } from '../platform/http/plain-page.js'
import type { PageTexts } from './page-texts.js'

export interface SignInPage {
  readonly texts: PageTexts
  readonly nonce: string
  /** the host of the provider */
  readonly host: string
  /** where to go once signed in */
  readonly to: string
  readonly hasPassword: boolean
  /** whether its form is open at once: the other way in does not help, or it was tried */
  readonly opensPassword: boolean
  /** a sentence above the ways in */
  readonly message: string | null
  /** beneath the message */
  readonly advice?: string
  /** whether leaving the provider is offered as well */
  readonly offersSignOut: boolean
}

/** It must work where the console cannot be loaded, since that is for operators alone. */
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
