/**
 * What the CHANGELOG (Keep a Changelog 1.1.0) says of a version. Throws where it has no such section.
 * @param {string} changelog
 * @param {string} version
 */
export function changesOf(changelog, version) {
  const sections = changelog.split(/^(?=## )/m)
  const own = sections.find((section) => section.startsWith(`## [${version}]`))
  if (own === undefined) throw new Error(`CHANGELOG.md has no section ## [${version}]`)
  return own.trim().concat('\n')
}
