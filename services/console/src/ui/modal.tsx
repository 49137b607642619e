import { Modal as Base, type ModalProps } from '@mantine/core'
import { useEffect, useRef } from 'react'

/** After the library has removed the dialog. */
const CLOSED_MS = 20

/**
 * The dialog of the component library, in a file of the bundle that pages do not wait for. It gives the focus back to what had it, also if it is opened
 * as it is mounted, or unmounted while it is open. If that is gone, the focus goes to the content of the page.
 */
export default function Modal(props: ModalProps) {
  const { opened } = props
  const before = useRef<Element | null>(null)
  // An effect would run after the dialog has taken the focus.
  if (opened) before.current ??= document.activeElement
  useEffect(() => {
    if (!opened) return
    return () => {
      const [last, own] = [before.current, document.activeElement]
      before.current = null
      window.setTimeout(() => giveBack(last, own), CLOSED_MS)
    }
  }, [opened])
  return <Base {...props} returnFocus={false} />
}

function giveBack(last: Element | null, own: Element | null): void {
  const { activeElement: now, body } = document
  // Another dialog or page may have taken the focus.
  if (now !== own && now !== body) return
  const isThere = last instanceof HTMLElement && last.isConnected && last !== body && !last.matches(':disabled')
  const next = isThere ? last : document.getElementById('main')
  next?.focus({ preventScroll: true })
}
