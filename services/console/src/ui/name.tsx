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
      {text.length <= CUT_AT ? <bdi className="name">{text}</bdi> : <LongName text={text} />}
    </Hint>
  )
}

/** Number of characters at the end of a long name that a row of a list always shows. */
const END = 12

/**
 * A long name, of which a row of a list cuts only the start: names often differ in their last letters. The row draws both parts from attributes, since
 * two elements would be read, found and copied as two words.
 */
function LongName({ text, ...pointed }: { text: string }) {
  const characters = [...text]
  return (
    <bdi
      className="name"
      data-start={characters.slice(0, -END).join('')}
      data-end={characters.slice(-END).join('')}
      {...pointed}
    >
      <span>{text}</span>
    </bdi>
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
