import { type ComponentProps, type ComponentType, type MouseEvent, PureComponent, type ReactNode } from 'react'
import { RouterContext, useRouter, useRouterState } from './hooks.js'
import { type Place, pathOf } from './places.js'
import type { Router } from './router.js'

type Failed = ComponentType<{ readonly error: unknown }>

/** Shows nothing until the code of the first page has arrived. */
export function RouterProvider({ router, children }: { router: Router; children: ReactNode }) {
  return (
    <RouterContext value={router}>
      <Arrived>{children}</Arrived>
    </RouterContext>
  )
}

function Arrived({ children }: { children: ReactNode }) {
  return useRouterState().page === null ? null : children
}

/** The page of the current path. @param failed shows why a page threw, or why its code could not be loaded */
export function Outlet({ failed: Failed }: { failed: Failed }) {
  const { page, location } = useRouterState()
  if (page === null) return null
  if ('error' in page) return <Failed error={page.error} />
  const { Component } = page
  return (
    <Boundary failed={Failed} at={location}>
      <Component />
    </Boundary>
  )
}

interface BoundaryProps {
  readonly failed: Failed
  /** a new place tries again */
  readonly at?: Place
  readonly children: ReactNode
}

interface BoundaryState {
  readonly at: Place | undefined
  readonly thrown: readonly [unknown] | null
}

/** Replaces its content if that throws. */
export class Boundary extends PureComponent<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { at: this.props.at, thrown: null }

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { thrown: [error] }
  }

  static getDerivedStateFromProps({ at }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return at === state.at ? null : { at, thrown: null }
  }

  override render() {
    const { failed: Failed, children } = this.props
    const { thrown } = this.state
    return thrown === null ? children : <Failed error={thrown[0]} />
  }
}

interface LinkProps extends ComponentProps<'a'> {
  readonly to: string
}

/** A link inside the console. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const router = useRouter()
  const open = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const { metaKey, ctrlKey, shiftKey, altKey } = event
    // Other clicks open a new tab or window, or download.
    const isPlain = event.button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey
    if (event.defaultPrevented || !isPlain || (rest.target ?? '_self') !== '_self') return
    event.preventDefault()
    // Navigation to the same place does not add an entry to the history.
    router.navigate(to, { replace: pathOf(router.state.location) === to })
  }
  return <a {...rest} href={router.places.href(to)} onClick={open} />
}
