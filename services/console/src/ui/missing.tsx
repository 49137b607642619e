import type { ReactNode } from 'react'
import { Empty } from './empty.js'
import { ButtonLink } from './links.js'
import { Page } from './page.js'

interface MissingProps {
  readonly title: string
  /** where to look instead */
  readonly back: { readonly label: string; readonly to: string }
  readonly children: ReactNode
}

/** The page of something that does not exist. */
export function Missing({ title, back, children }: MissingProps) {
  return (
    <Page title={title} above={[back]}>
      <Empty title={title} action={<ButtonLink to={back.to}>{back.label}</ButtonLink>}>
        {children}
      </Empty>
    </Page>
  )
}
