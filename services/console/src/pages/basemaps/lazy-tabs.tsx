import { Skeleton } from '@mantine/core'
import type { ComponentType } from 'react'
import { useTexts } from '../../texts/texts.js'
import { part } from '../../ui/part.js'

type Tabs = typeof import('./tabs.js')

/** A content of a tab, whose code is loaded when it is shown. */
function tab<P extends object>(choose: (tabs: Tabs) => ComponentType<P>): ComponentType<P> {
  return part(async () => choose(await import('./tabs.js')), { Pending: PendingTab })
}

function PendingTab() {
  const { common, maps } = useTexts()
  return <Skeleton h={160} role="status" aria-label={common.loading(maps.tabs.details)} />
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
