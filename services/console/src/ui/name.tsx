import { Hint } from './hint.js'
import { shownText } from './shown-text.js'

/** Characters that fit beside other columns; see `.name`. */
const CUT_AT = 30

/**
 * A text that somebody else chose. Its direction stays inside it; what is too long is cut, and shown whole to a pointer, a finger or the
 * keyboard (see `.name` for the last).
 */
export function Name({ children }: { children: string }) {
  const text = shownText(children)
  return (
    <Hint
      label={<bdi>{text}</bdi>}
      disabled={text.length <= CUT_AT}
      multiline
      maw="min(36rem, 90vw)"
      className="whole-name"
    >
      <bdi className="name">{text}</bdi>
    </Hint>
  )
}
