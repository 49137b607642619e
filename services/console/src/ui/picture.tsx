import { useEffect, useState } from 'react'

/** A decorative image from memory. */
export function Picture({ of }: { of: Blob }) {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(of)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [of])
  return url === null ? null : <img src={url} alt="" />
}
