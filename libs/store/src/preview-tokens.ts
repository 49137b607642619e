import type { Transaction } from './connect.js'

export interface NewPreviewToken {
  readonly name: string
  readonly prefix: string
  readonly digest: Buffer
  readonly basemapCodes: readonly string[]
  readonly vectorCodes: readonly string[]
  readonly expiresAt: Date
}

/** Inserts a read-only token for a preview. Expired ones are deleted at the same time, so they never accumulate. */
export async function insertPreviewToken(tx: Transaction, token: NewPreviewToken): Promise<void> {
  await tx`DELETE FROM tokens WHERE preview AND expires_at < now()`
  await tx`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, expires_at, preview)
    VALUES (${token.name}, ${token.prefix}, ${token.digest}, ${token.basemapCodes as string[]}, ${token.vectorCodes as string[]},
            ARRAY['read'], ${token.expiresAt}, true)`
}
