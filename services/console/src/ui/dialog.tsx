import type { ModalProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { firstPageDrawn } from './first-page.js'
import { part } from './part.js'

const Modal = part<ModalProps>(async () => (await import('./modal.js')).default)

/** A dialog, whose code is loaded after the page that has it. It stays once it was opened, so that it closes softly and gives the focus back. */
export function Dialog(props: ModalProps) {
  const [isNeeded, setNeeded] = useState(props.opened)
  useEffect(() => void firstPageDrawn.then(Modal.prepare), [])
  if (props.opened && !isNeeded) setNeeded(true)
  return isNeeded ? <Modal {...props} /> : null
}
