/** The bill of materials of a kit: CycloneDX 1.5, npm's list of packages and the kit's other components. */

/**
 * @typedef {{name: string, version: string, architecture: string, sha256?: string}} DebianPackage
 * @typedef {{distribution: string, packages: readonly DebianPackage[]}} DebianPackages
 */

/**
 * @param {{components?: object[]}} npm the output of `npm sbom`
 * @param {DebianPackages} debian packages in the kit itself
 * @param {{version: string, sha256: string}} node
 * @param {readonly {image: string, id: string, debian: DebianPackages}[]} images
 */
export function kitSbom(npm, debian, node, images = []) {
  const purl = `pkg:generic/node@${node.version}`
  const runtime = { type: 'platform', 'bom-ref': purl, name: 'node', version: node.version, purl }
  const hashes = [{ alg: 'SHA-256', content: node.sha256 }]
  return {
    ...npm,
    components: [
      ...(npm.components ?? []),
      { ...runtime, hashes },
      ...debian.packages.map((each) => debianComponent(each, debian.distribution)),
      ...images.map(imageComponent),
    ],
  }
}

/** @param {DebianPackage} each */
function debianComponent({ name, version, architecture, sha256 }, distribution, within = '') {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}`
  const hashes = sha256 === undefined ? {} : { hashes: [{ alg: 'SHA-256', content: sha256 }] }
  return { type: 'library', 'bom-ref': within + purl, name, version, purl, ...hashes }
}

/** An image with the packages of Debian in it; those of npm in the gateway's images are in the list of npm. */
function imageComponent({ image, id, debian }) {
  const [name, version] = image.split(':')
  const purl = `pkg:oci/${name}@${encodeURIComponent(id)}?tag=${version}`
  const components = debian.packages.map((each) => debianComponent(each, debian.distribution, `${image}#`))
  return { type: 'container', 'bom-ref': purl, name, version, purl, components }
}
