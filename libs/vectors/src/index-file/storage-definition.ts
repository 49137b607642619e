import { spawn } from 'node:child_process'
import { BARE_ENVIRONMENT } from '@gateway/core/processes/confinement.js'
import { epsgDefinition, isNorthFirst } from '../formats/epsg.js'
import type { IndexDescription } from './index-description.js'

/** Timeout of the tool in ms. */
const LIMIT_MS = 20_000

/** Returns the proj4 definition and the axis order of a coordinate system; null without a code or a definition. */
export async function storageDefinitionOf(crs: string | null): Promise<IndexDescription['storage_definition']> {
  const code = codeOf(crs)
  if (code === null) return null
  const known = epsgDefinition(code)
  if (known !== null) return { proj4: known, north_first: isNorthFirst(code) }
  const [definition, projJson] = await Promise.all([definitionOf(crs), describe('projjson', code)])
  try {
    const { coordinate_system: system } = JSON.parse(projJson) as {
      coordinate_system: { axis: readonly { direction: string }[] }
    }
    return definition === null ? null : { proj4: definition, north_first: system.axis[0]?.direction === 'north' }
  } catch {
    return null
  }
}

/** Returns the proj4 definition of a newer system from GDAL's copy of the EPSG dataset; null without GDAL. */
export async function definitionOf(crs: string | null): Promise<string | null> {
  const code = codeOf(crs)
  const text = code === null ? '' : (await describe('proj4', code)).trim()
  return text.startsWith('+proj') ? text : null
}

function codeOf(crs: string | null): number | null {
  const code = /^EPSG:(\d{4,6})$/.exec(crs ?? '')?.[1]
  return code === undefined ? null : Number(code)
}

function describe(form: string, code: number): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('gdalsrsinfo', ['-o', form, `EPSG:${code}`], {
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
