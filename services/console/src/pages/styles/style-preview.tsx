import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { previewTokenQuery } from '../../api/preview.js'
import { type StyleDocument, styleDocumentQuery } from '../../api/styles.js'
import { StyleMap, useMapLibrary } from '../../map/lazy.js'
import { MapSkeleton } from '../../map/skeleton.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'

type MapProps = Omit<ComponentProps<typeof StyleMap>, 'label' | 'of' | 'token'>

interface StylePreviewProps extends MapProps {
  readonly code: string
  /** null: the current revision */
  readonly revision: number | null
}

/** A style on the map, or the reason why it cannot be shown. */
export function StylePreview({ code, revision, ...map }: StylePreviewProps) {
  const t = useTexts()
  const { shown, token, error } = useStylePreview(code, revision)
  useMapLibrary('style')
  if (error !== null) return <Problem title={t.map.failed} error={error} />
  if (shown === undefined || token === undefined) return <MapSkeleton tall />
  if (shown.document.version !== 8) return <Alert color="orange">{t.styles.noDocument}</Alert>
  return <StyleMap label={`${code} ${shown.revision}`} of={shown} token={token} {...map} />
}

/** Loads the data for a preview of a style: its document, and a token for its resources. */
export function useStylePreview(
  code: string,
  revision: number | null,
): {
  readonly shown: StyleDocument | undefined
  readonly token: string | undefined
  readonly error: Error | null
} {
  const shown = useQuery(styleDocumentQuery(code, revision))
  const token = useQuery(previewTokenQuery({ style_code: code }))
  return { shown: shown.data, token: token.data?.token, error: shown.error ?? token.error }
}
