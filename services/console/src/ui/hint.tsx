import {
  cloneElement,
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useState,
} from 'react'
import { part } from './part.js'

const OpenTooltip = part(async () => (await import('./tooltip.js')).default, { isOptional: true })

interface HintProps {
  readonly label: ReactNode
  readonly multiline?: boolean
  readonly maw?: string
  readonly className?: string
  readonly disabled?: boolean
  readonly children: ReactElement<object>
}

/**
 * A tooltip that shows on hover, focus and touch. The library's own would place and watch each of the hundreds of texts of a list; this makes
 * it, and loads its code, for the one that somebody points at.
 */
export function Hint({ label, disabled = false, children, ...look }: HintProps) {
  const id = useId()
  const [target, setTarget] = useState<HTMLElement | null>(null)
  if (disabled) return children
  const open = ({ currentTarget }: PointerEvent<HTMLElement> | FocusEvent<HTMLElement>) => setTarget(currentTarget)
  const close = () => setTarget(null)
  const child = cloneElement(children, {
    onPointerEnter: open,
    // A finger leaves at once; its tooltip stays until something else is touched.
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType !== 'touch' && close(),
    onFocus: open,
    onBlur: close,
    ...(target !== null && { 'aria-describedby': id }),
  } as object)
  return (
    <>
      {child}
      {target !== null && <OpenTooltip id={id} target={target} label={label} {...look} />}
    </>
  )
}
