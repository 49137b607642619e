/** The bill of materials of a kit: CycloneDX 1.5, npm's list of packages and the kit's other components. */

/**
 * @param {{components?: object[]}} npm what `npm sbom` wrote
 * @param {{distribution: string, packages: readonly {name: string, version: string, architecture: string, sha256: string}[]}} debian
 * @param {{version: string, sha256: string}} node
 */
export function kitSbom(npm, debian, node) {
  const { distribution } = debian
  const components = debian.packages.map(({ name, version, architecture, sha256 }) => {
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}`
    return { type: 'library', 'bom-ref': purl, name, version, purl, hashes: [{ alg: 'SHA-256', content: sha256 }] }
  })
  const purl = `pkg:generic/node@${node.version}`
  const runtime = { type: 'platform', 'bom-ref': purl, name: 'node', version: node.version, purl }
  const hashes = [{ alg: 'SHA-256', content: node.sha256 }]
  return { ...npm, components: [...(npm.components ?? []), { ...runtime, hashes }, ...components] }
}
