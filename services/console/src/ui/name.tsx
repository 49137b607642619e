import type { AnchorProps } from '@mantine/core'
import { Hint } from './hint.js'
import { TextLink } from './links.js'
import { shownText } from './shown-text.js'

/** Number of characters that fit next to other columns; see `.name`. */
const CUT_AT = 30

/**
 * A text that another person chose. Its text direction is isolated. A text that is too long is cut, and shown completely to a pointer, a finger or the
 * keyboard (for the last see `.name`).
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

/** A link to the page of a named object. */
export function NameLink({ name, ...link }: AnchorProps & { to: string; name: string }) {
  return (
    <TextLink {...link}>
      <Name>{name}</Name>
    </TextLink>
  )
}
