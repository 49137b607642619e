import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/client.js'
import type { Icon } from './icon.js'
import { useSeen } from './use-seen.js'

/** Attempts for a picture that the renderer has not finished, because it draws others first. */
const MAX_RETRIES = 4
const RETRY_MS = 4_000

interface ThumbnailProps {
  /** identifies the content: new content has a new revision */
  readonly id: QueryKey
  /** null: there is nothing to show. Resolves to null if there is no picture */
  readonly read: ((signal: AbortSignal) => Promise<Blob | null>) | null
  /** shown in place of a picture */
  readonly icon: Icon
}

/** A small picture, loaded when its row becomes visible. Decorative: the name stands next to it. */
export function Thumbnail({ id, read, icon: Instead }: ThumbnailProps) {
  const { ref, seen } = useSeen()
  const { data, isFetched } = useQuery({
    queryKey: ['thumbnail', ...id],
    queryFn: ({ signal }) => read?.(signal) ?? null,
    enabled: seen && read !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: (failures, error) => failures < MAX_RETRIES && error instanceof ApiError && error.status === 503,
    retryDelay: RETRY_MS,
  })
  return (
    <div ref={ref} className="thumbnail" aria-hidden>
      {data == null ? (read === null || isFetched) && <Instead size={18} /> : <Picture of={data} />}
    </div>
  )
}

/** A decorative image from memory. */
function Picture({ of }: { of: Blob }) {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(of)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [of])
  return url === null ? null : <img src={url} alt="" />
}
