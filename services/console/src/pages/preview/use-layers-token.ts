import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { fetchPreviewToken, RENEW_MS } from '../../api/preview.js'
import type { ShownLayer } from './shown-layers.js'

type Layer = Pick<ShownLayer, 'kind' | 'code'>

const keyOf = ({ kind, code }: Layer) => `${kind}/${code}`

/** One token that reads all layers. While one for other layers is fetched, the map keeps the last one, which reads the layers before. */
export function useLayersToken(layers: readonly ShownLayer[]) {
  const codes = (kind: ShownLayer['kind']) => [
    ...new Set(layers.flatMap((layer) => (layer.kind === kind ? [layer.code] : []))),
  ]
  const [basemaps, vectors] = [codes('basemap'), codes('vector')]
  const granted = {
    ...(basemaps.length > 0 && { basemap_codes: basemaps }),
    ...(vectors.length > 0 && { vector_codes: vectors }),
  }
  return useQuery({
    queryKey: ['preview-token', 'layers', granted],
    queryFn: async ({ signal }) => {
      const { token } = await fetchPreviewToken(granted, signal)
      const readable = new Set(layers.map(keyOf))
      return { token, reads: (layer: Layer) => readable.has(keyOf(layer)) }
    },
    staleTime: RENEW_MS,
    gcTime: 0,
    enabled: layers.length > 0,
    placeholderData: keepPreviousData,
  })
}
