import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { IssuedToken } from '@gateway/contracts/token.js'
import type { AdminClient } from '../admin-client.js'

export interface DemoGrants {
  readonly basemapCodes: readonly string[]
  readonly vectorCodes: readonly string[]
}

/**
 * Returns the service token of the demo, kept in `dataDir/demo-token` (mode 0600). Issues a new one if the gateway refuses it.
 * @param baseUrl URL of the read interface
 */
export async function demoToken(
  admin: AdminClient,
  baseUrl: string,
  dataDir: string,
  grants: DemoGrants,
): Promise<string> {
  const path = join(dataDir, 'demo-token')
  const kept = await readFile(path, 'utf8').catch(() => '')
  if (kept !== '' && (await isAccepted(baseUrl, kept.trim()))) return kept.trim()
  const { token } = await admin.post<IssuedToken>('/tokens', {
    name: 'demo',
    scopes: ['read', 'slice'],
    basemap_codes: grants.basemapCodes,
    vector_codes: grants.vectorCodes,
  })
  // Deleted first, since an existing file keeps its mode when it is written.
  await rm(path, { force: true })
  await writeFile(path, `${token}\n`, { mode: 0o600 })
  return token
}

async function isAccepted(baseUrl: string, token: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/api/v1/catalog/basemaps`, { headers: { authorization: `Bearer ${token}` } })
  await answer.body?.cancel()
  return answer.ok
}
