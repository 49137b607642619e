import { z } from 'zod'
import { timestampSchema } from './common.js'

/** What usage is accounted to. */
export const USAGE_KINDS = ['token', 'basemap', 'version', 'vector'] as const
export type UsageKind = (typeof USAGE_KINDS)[number]

/** Amounts of usage. */
export const usageAmountsSchema = z.object({
  requests: z.int().describe('answered by an edge, whatever the answer'),
  tiles: z.int().describe('of these: answered with a tile, or with 304 for one that the client has'),
  tile_404: z.int().describe('of these: for a tile that does not exist'),
  refused: z.int().describe('of these: answered 401, 403 or 429'),
  bytes: z.int().describe('of the bodies of all answers, as far as they were sent'),
})
export type UsageAmounts = z.infer<typeof usageAmountsSchema>
/** The amounts by name, in one order everywhere. */
export const USAGE_AMOUNTS = ['requests', 'tiles', 'tile_404', 'refused', 'bytes'] as const

/** Amounts of one hour, as edges tell them to the store. */
export interface UsageRow extends UsageAmounts {
  readonly kind: UsageKind
  /** of a version `{code}/{version}` */
  readonly id: string
  /** milliseconds since 1970, a whole hour in UTC */
  readonly at: number
}

export const usageItemSchema = usageAmountsSchema.extend({
  id: z.string().describe('of a token its id, of a basemap or vector its code, of a version `{code}/{version}`'),
  name: z
    .string()
    .nullable()
    .describe('of the token, basemap or vector as it is called now; null: it is gone, or a version'),
  at: timestampSchema.describe('when the hour or day begins (UTC); with `step=total` when the range does'),
})
export type UsageItem = z.infer<typeof usageItemSchema>
