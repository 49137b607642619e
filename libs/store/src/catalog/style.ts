import { type CodedMessage, storedMessage, textOf } from '@gateway/contracts/messages.js'
import type { AdminStyle, Style } from '@gateway/contracts/style.js'
import type { StoredStyle } from '@gateway/store/styles.js'

/** Converts a style to the form of the catalog. `baseUrl` is TILE_PUBLIC_BASE_URL, without a trailing slash. */
export function toStyle(stored: StoredStyle, baseUrl: string): Style {
  const { code, name, revision, available, sourceCode, dependencies, assets, createdAt, updatedAt } = stored
  return {
    code,
    name,
    revision,
    available,
    source_code: sourceCode,
    style_url: `${baseUrl}/styles/${encodeURIComponent(code)}/style.json`,
    sources: [...dependencies.sources],
    fonts: [...dependencies.fonts],
    sprites: assets.sprites.map((sprite) => sprite.name),
    hosts: [...dependencies.hosts],
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  }
}

/** Converts a style to the form of the admin API, with its missing dependencies. */
export function toAdminStyle(stored: StoredStyle, baseUrl: string, problems: readonly CodedMessage[]): AdminStyle {
  const { path, dependencies, withdrawn, sourceEnabled } = stored
  return {
    ...toStyle(stored, baseUrl),
    path,
    icons: [...dependencies.icons],
    problems: problems.map((problem) => storedMessage(textOf(problem), problem)),
    withdrawn,
    source_enabled: sourceEnabled,
  }
}
