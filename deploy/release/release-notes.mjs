/**
 * Returns the section of a version in the CHANGELOG (Keep a Changelog 1.1.0). Throws if there is no such section.
 * @param {string} changelog
 * @param {string} version
 */
export function changesOf(changelog, version) {
  const sections = changelog.split(/^(?=## )/m)
  const own = sections.find((section) => section.startsWith(`## [${version}]`))
  if (own === undefined) throw new Error(`CHANGELOG.md has no section ## [${version}]`)
  return own.trim().concat('\n')
}
