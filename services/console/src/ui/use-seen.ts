import { useInViewport } from '@mantine/hooks'
import { type RefCallback, useEffect, useState } from 'react'

/** True once the user has scrolled to the element, so that heavy content is loaded then, and stays. */
export function useSeen(): { readonly ref: RefCallback<HTMLDivElement>; readonly seen: boolean } {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (inViewport) setSeen(true)
  }, [inViewport])
  return { ref, seen }
}
