import { type CSSProperties, type ReactNode, useState } from 'react'

interface SwipeProps {
  readonly label: string
  readonly left: ReactNode
  readonly right: ReactNode
}

const MIDDLE = 50

/** Two maps of the same place, one above the other, with a divider that sets how much of each is visible. */
export function Swipe({ label, left, right }: SwipeProps) {
  const [percent, setPercent] = useState(MIDDLE)
  return (
    <div className="swipe" style={{ '--divider': `${percent}%` } as CSSProperties}>
      <div className="swipe-left">{left}</div>
      <div className="swipe-right">{right}</div>
      <div className="swipe-line" aria-hidden />
      <input
        type="range"
        aria-label={label}
        min={0}
        max={100}
        step={1}
        value={percent}
        onChange={(event) => setPercent(Number(event.currentTarget.value))}
        className="swipe-divider"
      />
    </div>
  )
}
