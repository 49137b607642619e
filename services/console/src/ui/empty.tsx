import { Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'
import IconMapPinSearch from '~icons/map-pin-search'
import type { Icon } from './icon.js'

interface EmptyProps {
  readonly title: string
  /** the next step */
  readonly children: ReactNode
  readonly action?: ReactNode
  readonly icon?: Icon
}

export function Empty({ title, children, action, icon: Icon = IconMapPinSearch }: EmptyProps) {
  return (
    <Stack align="center" gap="sm" py="xl" px="md" ta="center">
      <ThemeIcon size={56} radius="xl" variant="light">
        <Icon size={30} />
      </ThemeIcon>
      <Text fw={650} size="lg">
        {title}
      </Text>
      <Text c="dimmed" maw={460} component="div">
        {children}
      </Text>
      {action}
    </Stack>
  )
}
