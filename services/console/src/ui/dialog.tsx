import type { ModalProps } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'

const LazyModal = lazy(() => import('./modal.js'))

/** A dialog, whose code is loaded when it first opens. It stays then, so that it closes softly and gives the focus back. */
export function Dialog(props: ModalProps) {
  const [isNeeded, setNeeded] = useState(props.opened)
  if (props.opened && !isNeeded) setNeeded(true)
  if (!isNeeded) return null
  return (
    <Suspense fallback={null}>
      <LazyModal {...props} />
    </Suspense>
  )
}
