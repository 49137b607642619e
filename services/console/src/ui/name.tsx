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
      <bdi className="name">{text.length <= CUT_AT ? text : <Ends text={text} />}</bdi>
    </Hint>
  )
}

/** Number of characters at the end of a long name that a row of a list always shows. */
const END = 12

/** A long name in two parts, of which a row cuts only the first: names often differ in their last letters. */
function Ends({ text }: { text: string }) {
  const characters = [...text]
  return (
    <>
      <span className="name-start">{characters.slice(0, -END).join('')}</span>
      <span className="name-end">{characters.slice(-END).join('')}</span>
    </>
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
