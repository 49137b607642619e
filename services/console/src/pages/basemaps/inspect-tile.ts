import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { ApiError } from '../../api/client.js'
import { TOKEN_HEADER, tilePath } from '../../api/preview.js'
import { isVector } from '../../map/is-vector.js'

export interface InspectedTile {
  readonly address: string
  readonly status: number
  readonly size: number
  readonly milliseconds: number
  readonly headers: readonly (readonly [string, string])[]
  /** null for vector tiles and for responses without a tile */
  readonly image: Blob | null
}

/** Requests one tile as a client does, bypassing every cache. Throws ApiError if no response arrives. */
export async function inspectTile(
  code: string,
  version: BasemapVersion,
  address: string,
  token: string,
  signal: AbortSignal,
): Promise<InspectedTile> {
  const path = tilePath(code, version.version, address, version.format)
  const begun = performance.now()
  try {
    const answer = await fetch(path, { cache: 'no-store', headers: { [TOKEN_HEADER]: token }, signal })
    const body = await answer.blob()
    return {
      address,
      status: answer.status,
      size: body.size,
      milliseconds: performance.now() - begun,
      headers: [...answer.headers],
      image: answer.ok && !isVector(version.format) ? body : null,
    }
  } catch (error) {
    throw signal.aborted ? error : new ApiError(0, (error as Error).message)
  }
}
