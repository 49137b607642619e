/** Files of the repository outside of docs to which the documentation links: the site has them below `files/`. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Matches the inline links of Markdown, after code has been removed. */
const LINK = /\]\(([^()\s]+)\)/g
const CODE = /^ *```.*?^ *```|`[^`\n]*`/gms

/**
 * Returns every linked file, as paths from the root. Markdown files become pages, whose own links count too; other files are copied as text.
 * @param {string} root of the checkout
 * @returns {{pages: string[], copies: string[]}}
 */
export function linkedFiles(root) {
  const found = new Set()
  const pending = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
  for (const page of pending) {
    for (const target of targetsOf(root, page)) {
      if (isSitePage(target) || found.has(target)) continue
      found.add(target)
      if (target.endsWith('.md')) pending.push(target)
    }
  }
  const all = [...found].sort()
  return { pages: all.filter((path) => path.endsWith('.md')), copies: all.filter((path) => !path.endsWith('.md')) }
}

/** Returns the file to which a link of a page leads, as a path from the root; null for other sites and for anchors in the page itself. */
export function targetOf(page, href) {
  if (/^([a-z]+:|#|\/)/.test(href)) return null
  return normalize(join(dirname(page), decodeURI(href.replace(/[#?].*/, ''))))
}

/** Markdown below docs is already a page of the site. */
export const isSitePage = (path) => path.startsWith('docs/') && path.endsWith('.md')

function targetsOf(root, page) {
  const text = readFileSync(join(root, page), 'utf8').replace(CODE, '')
  const targets = Array.from(text.matchAll(LINK), ([, href]) => ({ href, target: targetOf(page, href) }))
  return targets.flatMap(({ href, target }) => {
    if (target === null || isAsset(target)) return []
    const file = join(root, target)
    if (!existsSync(file) || !statSync(file).isFile()) throw new Error(`${page}: there is no file ${href}`)
    return [target]
  })
}

/** Pictures, which the bundler copies. */
const isAsset = (path) => /\.(svg|webp|png)$/.test(path)
