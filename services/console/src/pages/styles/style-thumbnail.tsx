import type { AdminStyle } from '@gateway/contracts/style.js'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import IconMapOff from '~icons/map-off'
import IconPalette from '~icons/palette'
import { fetchPreviewToken } from '../../api/preview.js'
import { styleDocumentQuery } from '../../api/styles.js'
import { Picture } from '../../ui/picture.js'
import { useSeen } from '../../ui/use-seen.js'
import { isServed } from '../../ui/withdrawn.js'

/** A small map of the style, drawn when its row becomes visible. Decorative: the style's name stands next to it. */
export function StyleThumbnail({ style }: { style: AdminStyle }) {
  const { ref, seen } = useSeen()
  const isShown = style.available && isServed(style)
  return (
    <div ref={ref} className="thumbnail" aria-hidden>
      {isShown ? seen && <Drawn style={style} /> : <IconMapOff size={18} />}
    </div>
  )
}

function Drawn({ style: { code, revision } }: { style: AdminStyle }) {
  const queries = useQueryClient()
  const picture = useQuery({
    queryKey: ['style-picture', code, revision],
    queryFn: async ({ signal }) => {
      const shown = await queries.fetchQuery(styleDocumentQuery(code, null))
      const { token } = await fetchPreviewToken({ style_code: code }, signal)
      const { drawStyle } = await import('../../map/style-picture.js')
      return drawStyle(shown, token)
    },
    // New content has a new revision, so a document never becomes stale.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return picture.data == null ? <IconPalette size={18} /> : <Picture of={picture.data} />
}
