import { dirname, join, relative } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'
import { isSitePage, targetOf } from '../linked-files.mjs'

/** Colours of the theme, which change with it. */
const COLOURS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--vp-c-text-2)',
  accent: 'var(--vp-c-text-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--vp-c-bg-soft)',
  border: 'var(--vp-c-text-3)',
} as const

/** Also shows readers why the test does not run a block. */
export function showNotRun(markdown: MarkdownRenderer): void {
  const code = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, at, ...rest) => {
    const html = code?.(tokens, at, ...rest) ?? ''
    const [, reason] = /^\S+ not-run: (.+)$/.exec(tokens[at]?.info ?? '') ?? []
    return reason === undefined
      ? html
      : `${html}<p class="not-run">Not run by the test: ${markdown.utils.escapeHtml(reason)}.</p>\n`
  }
}

/** Draws ```mermaid blocks during the build; the text after the word is their text alternative. The styles are in theme/style.css. */
export function drawMermaid(markdown: MarkdownRenderer): void {
  const code = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, at, ...rest) => {
    const { info = '', content = '' } = tokens[at] ?? {}
    const [, label] = /^mermaid (.+)$/.exec(info) ?? []
    if (label === undefined) return code?.(tokens, at, ...rest) ?? ''
    // A style element would load a font from another site, and is not part of the page.
    const [head = '', ...shapes] = renderMermaidSVG(content, COLOURS).split(/<style>|<\/style>/)
    const named = head.replace('<svg ', `<svg role="img" aria-label="${markdown.utils.escapeHtml(label)}" `)
    return `<div class="diagram" tabindex="0" v-pre>${named}${shapes.at(-1)}</div>\n`
  }
}

/** Makes links to files of the repository outside of docs lead to their copies in the site below `files/` (../linked-files.mjs). */
export function linkFiles(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('link-files', ({ tokens, env }) => {
    // The title of a page is parsed a second time, without its page.
    if (env.relativePath === undefined) return
    const page = sourceOf(env.relativePath)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'image') token.attrSet('src', pictureOf(env.relativePath, page, token.attrGet('src') ?? ''))
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      const target = href === null ? null : targetOf(page, href)
      if (target === null || (isSitePage(target) && isSitePage(page))) continue
      const place = href?.replace(/^[^#?]*/, '') ?? ''
      token.attrSet('href', `/${encodeURI(addressOf(target))}${place}`)
    }
  })
}

/** Returns the source file of a page of the site, as a path from the root. */
const sourceOf = (relativePath: string) =>
  relativePath.startsWith('files/') ? relativePath.slice('files/'.length) : `docs/${relativePath}`

/** Returns the path by which the bundler finds a picture next to the page's source file. */
function pictureOf(relativePath: string, page: string, src: string): string {
  const picture = targetOf(page, src)
  return picture === null ? src : relative(dirname(join('docs', relativePath)), picture)
}

function addressOf(target: string): string {
  if (isSitePage(target)) return target.slice('docs/'.length)
  // The copy is text under a separate name, so that the file's own name does not determine its type on a web server.
  return target.endsWith('.md') ? `files/${target}` : `files/${target}.txt`
}
