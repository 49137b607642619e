import type { Role } from '@gateway/contracts/operator.js'
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { useAllowed } from '../api/session.js'
import { Link } from '../router/components.js'
import type { Icon } from './icon.js'

/** A link inside the console. */
export function TextLink({ to, children, ...rest }: AnchorProps & { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} inherit={rest.size === undefined} {...rest}>
      {children}
    </Anchor>
  )
}

interface ButtonLinkProps extends Omit<ButtonProps, 'leftSection'> {
  readonly to: string
  readonly icon?: Icon
  /** minimum role for the link; default: everyone */
  readonly needs?: Role
  readonly children: ReactNode
}

/** A link that looks like a button. */
export function ButtonLink({ to, icon, needs = 'viewer', children, ...rest }: ButtonLinkProps) {
  if (!useAllowed(needs)) return null
  return (
    <Button component={Link} to={to} leftSection={buttonIcon(icon)} {...rest}>
      {children}
    </Button>
  )
}

export function buttonIcon(Icon: Icon | undefined, className = ''): ReactNode {
  return Icon && <Icon size={16} className={className} />
}
