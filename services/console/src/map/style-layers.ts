import type { StyleDocument } from '../api/styles.js'

export interface StyleLayer {
  readonly id: string
  readonly type: string
  readonly layout?: { readonly visibility?: 'visible' | 'none' }
}

export function layersOf({ document }: Pick<StyleDocument, 'document'>): readonly StyleLayer[] {
  return Array.isArray(document.layers) ? (document.layers as StyleLayer[]) : []
}
