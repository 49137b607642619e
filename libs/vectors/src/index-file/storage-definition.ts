import { spawn } from 'node:child_process'
import { BARE_ENVIRONMENT } from '@gateway/core/processes/confinement.js'
import type { IndexDescription } from './index-description.js'

/** Timeout of the tool in ms. */
const LIMIT_MS = 20_000

/** Returns the proj4 definition and the axis order of a coordinate system, from GDAL's copy of the EPSG dataset; null without a code or a definition. */
export async function storageDefinitionOf(crs: string | null): Promise<IndexDescription['storage_definition']> {
  if (crs === null || !/^EPSG:\d{4,6}$/.test(crs)) return null
  const [definition, projJson] = await Promise.all([describe('proj4', crs), describe('projjson', crs)])
  try {
    const { coordinate_system: system } = JSON.parse(projJson) as {
      coordinate_system: { axis: readonly { direction: string }[] }
    }
    const text = definition.trim()
    if (!text.startsWith('+proj')) return null
    return { proj4: text, north_first: system.axis[0]?.direction === 'north' }
  } catch {
    return null
  }
}

function describe(form: string, crs: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('gdalsrsinfo', ['-o', form, crs], {
      env: BARE_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: LIMIT_MS,
    })
    let text = ''
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString()
    })
    child.once('error', () => resolve(''))
    child.once('close', () => resolve(text))
  })
}
