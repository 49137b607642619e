import { type ComponentType, lazy, Suspense } from 'react'

type Tabs = typeof import('./tabs.js')

/** A content of a tab, whose code is loaded when it is shown. */
function tab<P extends object>(choose: (tabs: Tabs) => ComponentType<P>): ComponentType<P> {
  const Loaded: ComponentType<object> = lazy(async () => ({
    default: choose(await import('./tabs.js')) as ComponentType<object>,
  }))
  return function Tab(props: P) {
    return (
      <Suspense fallback={null}>
        <Loaded {...props} />
      </Suspense>
    )
  }
}

export const AboutForm = tab((tabs) => tabs.AboutForm)
export const Access = tab((tabs) => tabs.Access)
export const Addresses = tab((tabs) => tabs.Addresses)
export const CopiesSection = tab((tabs) => tabs.CopiesSection)
export const DefaultDialog = tab((tabs) => tabs.DefaultDialog)
export const DefaultsSection = tab((tabs) => tabs.DefaultsSection)
export const HeatSection = tab((tabs) => tabs.HeatSection)
export const OverridesSection = tab((tabs) => tabs.OverridesSection)
export const TogetherSection = tab((tabs) => tabs.TogetherSection)
export const UsageSection = tab((tabs) => tabs.UsageSection)
export const VersionsTable = tab((tabs) => tabs.VersionsTable)
