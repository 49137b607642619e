import { useInViewport } from '@mantine/hooks'
import { type RefCallback, useEffect, useState } from 'react'

/** Whether somebody has scrolled to the element: what is heavy is loaded then, and stays. */
export function useSeen(): { readonly ref: RefCallback<HTMLDivElement>; readonly seen: boolean } {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (inViewport) setSeen(true)
  }, [inViewport])
  return { ref, seen }
}
