import { z } from 'zod'

const place = z
  .tuple([z.int(), z.int()])
  .meta({ description: 'column and row, XYZ', items: { type: 'integer' }, minItems: 2, maxItems: 2 })

export const comparedZoomSchema = z.object({
  zoom: z.int(),
  addresses: z.int().describe('tile addresses in the bounds of either version'),
  step: z.int().min(1).describe('one address of every `step` columns and rows was compared; 1: all of them'),
  compared: z.int().describe('number of compared addresses, including those without a tile in both versions'),
  same: z.int().describe('tiles that have the same bytes'),
  different: z.array(place),
  only_left: z.array(place),
  only_right: z.array(place),
})
export type ComparedZoom = z.infer<typeof comparedZoomSchema>

/** The tiles that differ between two versions of a basemap. */
export const comparisonSchema = z.object({
  left: z.string(),
  right: z.string(),
  complete: z.boolean().describe('false: time ran out, and the last zoom is incomplete'),
  zooms: z.array(comparedZoomSchema),
})
export type Comparison = z.infer<typeof comparisonSchema>
