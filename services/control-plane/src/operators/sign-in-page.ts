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

/** A page of its own, without scripts: it must work where the console cannot be loaded, since that is for operators alone. */
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
  return `<!doctype html>
<html lang="${t.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${t.heading} · ${t.title}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<p class="brand">${t.title}</p>
<h1>${t.heading}</h1>
${words}
${advice === undefined ? '' : `<p>${escaped(advice)}</p>`}
<p><a class="button" href="/admin/sign-in/start?to=${target}">${escaped(t.signIn(host))}</a></p>
${offersSignOut ? `<p><a href="/admin/sign-in/leave">${escaped(t.signOutThere(host))}</a></p>` : ''}
${hasPassword ? passwordForm(t, target, opensPassword) : ''}
</main>
</body>
</html>
`
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

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string)
}

/** Of pages without the console. Its colours; see services/console/src/app/theme.ts. */
export const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#16191c, #e6e9ec); --card: light-dark(#fff, #1e2226); --line: light-dark(#ccd3d8, #3a4147) }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#f6f8f9, #16191c); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif }
main { box-sizing: border-box; width: min(26rem, 100vw); padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow-wrap: anywhere }
.brand { margin: 0; color: light-dark(#5a636b, #a9b1b8) }
h1 { margin: 0 0 1rem; font-size: 1.5rem; font-weight: 650 }
.message { padding: .75rem; border: 1px solid light-dark(#e8590c, #ff922b); border-radius: 6px }
.button { display: block; box-sizing: border-box; width: 100%; padding: .6rem 1rem; border: 0; border-radius: 8px; background: #0f7686; color: #fff;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer }
a { color: light-dark(#0f7686, #44b0bf) }
a.button { color: #fff }
summary { cursor: pointer }
form { display: grid; gap: .75rem; margin-top: 1rem }
label { display: grid; gap: .25rem }
input { font: inherit; padding: .5rem; border: 1px solid light-dark(#737b82, #868e96); border-radius: 6px; background: transparent; color: inherit }
:focus-visible { outline: 2px solid #27a2b3; outline-offset: 2px }
`
