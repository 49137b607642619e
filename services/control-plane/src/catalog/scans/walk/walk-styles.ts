import { createHash } from 'node:crypto'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { codeSchema } from '@gateway/contracts/common.js'
import { coded } from '@gateway/contracts/messages.js'
import { readBelow, whyNotRead } from '@gateway/core/files/read-below.js'
import { isBelow } from '@gateway/core/files/real-root.js'
import type { StoredFont, StoredSprite, StoredStyleAssets } from '@gateway/store/styles.js'
import { checkStyle, MAX_STYLE_BYTES } from '@gateway/styles/validate.js'
import { AssetChecks } from './asset-checks.js'
import { findFonts, identityOf } from './find-fonts.js'
import type { FoundStyle, FoundStyles } from './found.js'
import { quoted } from './found.js'
import { type Entry, listEntries } from './list-entries.js'
import { openSource, type WalkedSource, warnIn } from './walked-source.js'

const FONTS = 'fonts'
const STYLE_FILE = 'style.json'
/** Limit: bytes of the index of a sprite. */
const MAX_SPRITE_BYTES = 4 * 1024 * 1024
/** Limit: bytes of a file whose content is read at each scan to tell changes. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024
/** Maximum number of icons in a sprite. */
const MAX_ICONS = 10_000

/** The place of a style document: in a separate folder, or in the root of the source, shared with other styles. */
interface Place {
  readonly code: string
  readonly path: string
  readonly folder: string
  readonly isShared: boolean
}

/**
 * Finds the styles of a source, `{code}/style.json` and `{code}.json`, with the sprites next to them, and the fonts below `fonts`. Invalid styles are
 * named in the warnings. Throws if a folder cannot be listed, or the source does not exist.
 */
export async function walkStyles(root: string, progress: () => void): Promise<FoundStyles> {
  const checks = new AssetChecks()
  try {
    return await walkWith(checks, openSource(root, progress))
  } finally {
    checks.close()
  }
}

/** True for a directory of the source. The names in one behind a link that leads out of it are nobody's business. */
function isFolderWithin(source: WalkedSource, path: string): boolean {
  if (!existsSync(path)) return false
  const target = realpathSync.native(path)
  return isBelow(source.realRoot, target) && statSync(target).isDirectory()
}

async function walkWith(checks: AssetChecks, source: WalkedSource): Promise<FoundStyles> {
  const { root } = source
  const top = listEntries(source, root)
  const fonts = new Map<string, StoredFont>()
  const places: Place[] = []
  const invalid: string[] = []
  for (const entry of top) {
    if (entry.kind === 'directory' && entry.name === FONTS) await findFonts(source, entry.path, fonts, checks)
    else if (entry.kind === 'directory' && existsSync(join(entry.path, STYLE_FILE))) {
      places.push({ code: entry.name, path: join(entry.path, STYLE_FILE), folder: entry.path, isShared: false })
      const own = join(entry.path, FONTS)
      if (isFolderWithin(source, own)) await findFonts(source, own, fonts, checks)
    }
  }
  for (const { name, path } of top.filter(isStyleFile(top)))
    places.push({ code: name.slice(0, -'.json'.length), path, folder: root, isShared: true })
  const styles = new Map<string, FoundStyle>()
  const documents = new Set(places.map(({ path }) => path))
  for (const place of places) {
    source.progress()
    const file = quoted(relative(root, place.path))
    if (!codeSchema.safeParse(place.code).success) warnIn(source, coded('style_code_unusable', { file }))
    else if (styles.has(place.code)) warnIn(source, coded('style_code_taken', { file, code: quoted(place.code) }))
    else {
      const found = await readStyle(source, place, documents, checks)
      if (found === null) invalid.push(place.code)
      else styles.set(place.code, found)
    }
  }
  source.assertStillThere()
  return { styles: [...styles.values()], invalid, fonts: [...fonts.values()], warnings: source.warnings }
}

/** Tells styles from indexes of sprites, which have an image of the same name next to them. */
function isStyleFile(entries: readonly Entry[]) {
  const names = new Set(entries.map(({ name }) => name))
  return ({ kind, name }: Entry) =>
    kind === 'file' && name.endsWith('.json') && !names.has(`${name.slice(0, -'.json'.length)}.png`)
}

/** Returns null if the document is invalid. */
async function readStyle(
  source: WalkedSource,
  place: Place,
  documents: ReadonlySet<string>,
  checks: AssetChecks,
): Promise<FoundStyle | null> {
  const { code, path, folder } = place
  const file = quoted(relative(source.root, path))
  const text = await readText(source, path, MAX_STYLE_BYTES)
  const checked = text.ok
    ? checkStyle(text.text)
    : { ok: false as const, problems: [{ line: null, message: text.reason }] }
  if (!checked.ok) {
    for (const { line, message: reason } of checked.problems)
      warnIn(
        source,
        line === null ? coded('style_invalid', { file, reason }) : coded('style_invalid_line', { file, line, reason }),
      )
    return null
  }
  const document = text.ok ? text.text : ''
  const { style, dependencies } = checked
  for (const { line, message: reason } of checked.warnings)
    warnIn(
      source,
      line === null ? coded('style_doubtful', { file, reason }) : coded('style_doubtful_line', { file, line, reason }),
    )
  const sprites = await findSprites(source, place, new Set(dependencies.files), checks)
  const files = findFiles(source, place, dependencies.files, { sprites, documents })
  const assets: StoredStyleAssets = { sprites: sprites.map(({ identity: _, ...sprite }) => sprite), files }
  const hash = createHash('sha256').update(document).update(JSON.stringify(assets))
  for (const { identity } of sprites) hash.update(identity)
  for (const one of files) hash.update(await contentOf(source, one.path))
  const name =
    typeof style.name === 'string' && style.name.trim() !== '' ? style.name.slice(0, 200).replaceAll('\0', '') : code
  return { code, name, path, folder, document, dependencies, assets, fingerprint: hash.digest('base64url') }
}

type Text = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

async function readText(source: WalkedSource, path: string, most: number): Promise<Text> {
  try {
    const read = await readBelow(source.root, path, most)
    if (!read.ok) return { ok: false, reason: whyNotRead(read.reason, most) }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(read.content)
    // Postgres cannot store NUL.
    return text.includes('\0') ? { ok: false, reason: 'it has a NUL character' } : { ok: true, text }
  } catch (error) {
    return {
      ok: false,
      reason: error instanceof TypeError ? 'it is not UTF-8' : (error as Error).message.slice(0, 200),
    }
  }
}

/** Names the content of a file. A copy of the same bytes has the same name. Size and time stand for the content of a large file. */
async function contentOf(source: WalkedSource, path: string): Promise<string> {
  const read = await readBelow(source.root, path, MAX_HASHED_BYTES).catch(() => null)
  if (read?.ok === true) return createHash('sha256').update(read.content).digest('base64url')
  return read?.reason === 'too_large' ? identityOf(path) : 'gone'
}

type FoundSprite = StoredSprite & { readonly identity: string }

/** Finds sprites. In a separate folder all belong to the style. In a shared folder, only `sprite` and those that the style names do. */
async function findSprites(
  source: WalkedSource,
  { folder, isShared }: Place,
  named: ReadonlySet<string>,
  checks: AssetChecks,
): Promise<FoundSprite[]> {
  const entries = listEntries(source, folder)
  const names = new Set(entries.filter(({ kind }) => kind === 'file').map(({ name }) => name))
  const isOwn = (name: string) => !isShared || name === 'sprite' || named.has(name)
  const sprites: FoundSprite[] = []
  for (const { name: file, kind, path } of entries) {
    if (kind === 'directory' && file !== FONTS && isOwn(file)) {
      const drawn = await drawings(source, file, path, checks)
      if (drawn !== null) sprites.push(drawn)
    }
    const name = file.slice(0, -'.json'.length)
    if (kind !== 'file' || !file.endsWith('.json') || name.endsWith('@2x') || !names.has(`${name}.png`) || !isOwn(name))
      continue
    const icons = await iconsOf(source, path)
    if (icons === null) continue
    const doubled = names.has(`${name}@2x.json`) && names.has(`${name}@2x.png`)
    const parts = ['.json', '.png', ...(doubled ? ['@2x.json', '@2x.png'] : [])]
    const contents: string[] = []
    for (const part of parts) contents.push(await contentOf(source, join(folder, `${name}${part}`)))
    const identity = contents.join(' ')
    sprites.push({ name, path: join(folder, name), kind: 'files', doubled, icons, identity })
  }
  // A finished sprite is preferred to drawings of the same name.
  return sprites
    .sort((a, b) => Number(b.kind === 'files') - Number(a.kind === 'files'))
    .filter((sprite, i, all) => all.findIndex(({ name }) => name === sprite.name) === i)
}

async function iconsOf(source: WalkedSource, path: string): Promise<readonly string[] | null> {
  const text = await readText(source, path, MAX_SPRITE_BYTES)
  const broken = (reason: string) => {
    warnIn(source, coded('style_sprite_broken', { file: quoted(relative(source.root, path)), reason }))
    return null
  }
  if (!text.ok) return broken(text.reason)
  try {
    const icons = Object.keys(JSON.parse(text.text) as object)
    return icons.length > MAX_ICONS ? broken(`it has more than ${MAX_ICONS} icons`) : icons
  } catch {
    return broken('it is not JSON')
  }
}

/** Returns the drawings in a folder of SVG files; null if it has none. */
async function drawings(
  source: WalkedSource,
  name: string,
  path: string,
  checks: AssetChecks,
): Promise<FoundSprite | null> {
  const files = listEntries(source, path).filter((entry) => entry.kind === 'file' && /\.svg$/i.test(entry.name))
  if (files.length === 0) return null
  const kept = files.slice(0, MAX_ICONS)
  const identities: string[] = []
  for (const file of kept) identities.push(`${file.name} ${await contentOf(source, file.path)}`)
  const identity = identities.join('\n')
  const icons = kept.map((file) => file.name.slice(0, -'.svg'.length))
  const shown = quoted(relative(source.root, path))
  const checked = await checks.drawings(source.root, path, icons)
  // A sprite that cannot be drawn stays, so that a request for it is told the reason too.
  if (!checked.ok) warnIn(source, coded('style_sprite_broken', { file: shown, reason: checked.reason }))
  const leftOut = checked.ok ? checked.leftOut : []
  for (const { name: icon, reason } of leftOut) {
    const file = quoted(relative(source.root, join(path, `${icon}.svg`)))
    warnIn(source, coded('style_drawing_broken', { file, reason }))
  }
  const unused = new Set(leftOut.map((one) => one.name))
  return { name, path, kind: 'drawings', doubled: true, icons: icons.filter((icon) => !unused.has(icon)), identity }
}

/** Returns the data files that a style names, except its sprites. Documents of styles, and files outside of the style's folder, are excluded. */
function findFiles(
  source: WalkedSource,
  { code, folder, isShared }: Place,
  named: readonly string[],
  { sprites, documents }: { readonly sprites: readonly StoredSprite[]; readonly documents: ReadonlySet<string> },
): StoredStyleAssets['files'] {
  const found: { name: string; path: string }[] = []
  for (const name of named) {
    if (sprites.some((sprite) => sprite.name === name)) continue
    const path = resolve(folder, name)
    const inOther = isShared && existsSync(join(folder, name.split('/')[0] ?? '', STYLE_FILE))
    if (isServable(source, folder, path) && !documents.has(path) && !inOther) found.push({ name, path })
    else warnIn(source, coded('style_file_missing', { style: quoted(code), path: quoted(name) }))
  }
  return found
}

function isServable(source: WalkedSource, folder: string, path: string): boolean {
  try {
    const real = realpathSync.native(path)
    return isBelow(realpathSync.native(folder), real) && isBelow(source.realRoot, real) && statSync(real).isFile()
  } catch {
    return false
  }
}
