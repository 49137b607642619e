import { Skeleton } from '@mantine/core'
import { type ComponentType, lazy, Suspense } from 'react'
import { useTexts } from '../../texts/texts.js'

type Tabs = typeof import('./tabs.js')

/** A content of a tab, whose code is loaded when it is shown. */
function tab<P extends object>(choose: (tabs: Tabs) => ComponentType<P>): ComponentType<P> {
  const Loaded: ComponentType<object> = lazy(async () => ({
    default: choose(await import('./tabs.js')) as ComponentType<object>,
  }))
  return function Tab(props: P) {
    const { common, maps } = useTexts()
    return (
      <Suspense fallback={<Skeleton h={160} role="status" aria-label={common.loading(maps.tabs.details)} />}>
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
