import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'
import type { MarkdownRenderer } from 'vitepress'

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

/** Tells readers, too, why the test does not run a block. */
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

/** Draws ```mermaid blocks as they are built; what stands after the word is their text alternative. The styles are in theme/style.css. */
export function drawMermaid(markdown: MarkdownRenderer): void {
  const code = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, at, ...rest) => {
    const { info = '', content = '' } = tokens[at] ?? {}
    const [, label] = /^mermaid (.+)$/.exec(info) ?? []
    if (label === undefined) return code?.(tokens, at, ...rest) ?? ''
    // A style element would load a font from elsewhere, and is none of the page's own.
    const [head = '', ...shapes] = renderMermaidSVG(content, COLOURS).split(/<style>|<\/style>/)
    const named = head.replace('<svg ', `<svg role="img" aria-label="${markdown.utils.escapeHtml(label)}" `)
    return `<div class="diagram" tabindex="0" v-pre>${named}${shapes.at(-1)}</div>\n`
  }
}

/** Links to files of the repository that are no pages become their names: they are there where the page is read as Markdown, and not on the site. */
export function keepToTheSite(markdown: MarkdownRenderer, repository: string): void {
  const docs = join(repository, 'docs')
  markdown.core.ruler.push('keep-to-the-site', ({ tokens, env }) => {
    for (const { children } of tokens)
      for (const [at, token] of (children ?? []).entries()) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null
        if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue
        const file = join(dirname(join(docs, env.relativePath)), decodeURI(href.replace(/[#?].*/, '')))
        if (isPage(relative(docs, file))) continue
        if (!existsSync(file)) throw new Error(`${env.relativePath}: there is no ${href}`)
        const end = children?.slice(at).find(({ type }) => type === 'link_close')
        token.tag = 'span'
        token.attrs = [['title', relative(repository, file)]]
        if (end) end.tag = 'span'
      }
  })
}

const isPage = (path: string) => !/^(\.\.|adr\/|examples\/)/.test(path)
