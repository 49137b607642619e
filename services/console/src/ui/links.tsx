import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'

/** A link inside the console. */
export function TextLink({ to, children, ...rest }: AnchorProps & { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} inherit={rest.size === undefined} {...rest}>
      {children}
    </Anchor>
  )
}

/** A link that looks like a button. */
export function ButtonLink({ to, children, ...rest }: ButtonProps & { to: string; children: ReactNode }) {
  return (
    <Button component={Link} to={to} {...rest}>
      {children}
    </Button>
  )
}
