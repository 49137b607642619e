/**
 * By which names caches in front know the tiles of a version, and so what they are told to forget: all of a basemap, and those of one version.
 * Percent-encoded where a label holds what these headers separate names by.
 */
export function cacheTags(code: string, version: string | null): readonly string[] {
  const basemap = encodeURIComponent(code)
  const whole = `b-${basemap}`
  return version === null ? [whole] : [whole, `v-${basemap}-${encodeURIComponent(version)}`]
}

/** The two headers by which the common networks take them: `Cache-Tag` separates by commas, `Surrogate-Key` by blanks. */
export function cacheTagHeaders(tags: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return [
    ['Cache-Tag', tags.join(',')],
    ['Surrogate-Key', tags.join(' ')],
  ]
}
