import type { ReactNode } from 'react'

/** Names and values in a description list; its children are `Fact`s. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="facts">{children}</dl>
}

interface FactProps {
  readonly name: string
  /** true for a path or a URL, which gets a separate line */
  readonly wide?: boolean
  readonly children: ReactNode
}

export function Fact({ name, wide = false, children }: FactProps) {
  return (
    <div className={wide ? 'wide' : undefined}>
      <dt>{name}</dt>
      <dd>{typeof children === 'string' ? <bdi>{children}</bdi> : children}</dd>
    </div>
  )
}
