/** The images of a kit: all that compose.yaml runs, each with what identifies it and the packages of Debian in it. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The images that compose.yaml runs in addition to the gateway's. */
export const OTHER_IMAGES = ['postgres:17', 'redis:8', 'caddy:2']

/**
 * Saves the other images into `folder`, in which the gateway's are already, and writes `images.json`. Returns its entries with the packages of Debian in
 * each image: `{image, file, id, digest, debian}`. `id` is the digest of the image's configuration, which stays the same after `docker load`;
 * `digest` is that of the manifest in a registry, null for an image that was built here.
 */
export function saveImages(engine, folder, version) {
  const ours = ['edge', 'control-plane'].map((target) => ({
    image: `map-asset-gateway-${target}:${version}`,
    file: `map-asset-gateway-${target}-${version}.tar.gz`,
  }))
  const others = OTHER_IMAGES.map((image) => ({ image, file: `${image.replace(':', '-')}.tar.gz` }))
  for (const { image, file } of others) {
    // Without a registry, an image of this name that is here already is taken.
    if (spawnSync(engine.program, ['pull', image], { stdio: 'ignore' }).status !== 0)
      console.log(`${image} could not be pulled: the kit gets the one that is here`)
    saveImage(engine, image, join(folder, file))
  }
  const images = [...ours, ...others]
    .filter(({ file }) => existsSync(join(folder, file)))
    .map((entry) => ({ ...entry, ...identityOf(engine, entry.image) }))
  writeFileSync(join(folder, 'images.json'), `${JSON.stringify(images, null, 2)}\n`)
  return images.map((entry) => ({ ...entry, debian: debianIn(engine, entry.image) }))
}

/** Saves an image for `gzip -dc FILE | docker load`. @param {string} file `.tar.gz` */
export function saveImage(engine, image, file) {
  const archive = file.slice(0, -'.gz'.length)
  engine.run('save', '-o', archive, image)
  const { status } = spawnSync('gzip', ['-n', archive], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`gzip ${archive} ended with ${status}`)
}

/** Loads every image of a kit, and throws if one is not the image that `images.json` names. */
export function loadImages(engine, folder) {
  const images = JSON.parse(readFileSync(join(folder, 'images.json'), 'utf8'))
  for (const { image, file, id } of images) {
    // Not `-i`: podman 4.3 loads no compressed file.
    const load = spawnSync('sh', ['-c', 'gzip -dc "$1" | "$0" load', engine.program, join(folder, file)], {
      encoding: 'utf8',
    })
    if (load.status !== 0) throw new Error(`${file} cannot be loaded: ${load.stderr.trim()}`)
    const loaded = identityOf(engine, image).id
    if (loaded !== id) throw new Error(`${file} is ${loaded} instead of ${id}`)
  }
  return images
}

function identityOf(engine, image) {
  const [{ Id, RepoDigests = [] }] = JSON.parse(engine.run('image', 'inspect', image))
  const digest = RepoDigests.find((each) => !each.startsWith('localhost/'))?.split('@')[1] ?? null
  return { id: Id.replace(/^(?!sha256:)/, 'sha256:'), digest }
}

/** The packages of Debian in an image, with its release; none in an image of another distribution. */
function debianIn(engine, image) {
  const script =
    '. /etc/os-release; command -v dpkg-query > /dev/null || exit 0; echo "$ID-$VERSION_ID"; ' +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg-query
    "dpkg-query -W -f '${Package} ${Version} ${Architecture}\\n'"
  const [distribution = '', ...lines] = engine
    .run('run', '--rm', '--network=none', '--entrypoint', 'sh', image, '-c', script)
    .split('\n')
  const packages = lines.map((line) => {
    const [name, version, architecture] = line.trim().split(' ')
    return { name, version, architecture }
  })
  return { distribution, packages }
}
