import type { PagePreferences } from './page-preferences.js'

interface PlainPage extends PagePreferences {
  readonly title: string
  /** allows the page's style element; see `allowStyles` */
  readonly nonce: string
  /** HTML */
  readonly main: string
}

/** Renders a separate page without scripts, for users who have no console yet or cannot load it. */
export function plainPage({ language, scheme, title, nonce, main }: PlainPage): string {
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}"${scheme === null ? '' : ` class="${scheme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string)
}

/** The console's colours; see services/console/src/app/theme.ts. */
const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#16191c, #e6e9ec); --card: light-dark(#fff, #1e2226); --line: light-dark(#ccd3d8, #3a4147) }
:root.light { color-scheme: light }
:root.dark { color-scheme: dark }
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
