import { Stack, Text, ThemeIcon } from '@mantine/core'
import { IconMapPinSearch, type TablerIcon } from '@tabler/icons-react'
import type { ReactNode } from 'react'

interface EmptyProps {
  readonly title: string
  /** the next step */
  readonly children: ReactNode
  readonly action?: ReactNode
  readonly icon?: TablerIcon
}

export function Empty({ title, children, action, icon: Icon = IconMapPinSearch }: EmptyProps) {
  return (
    <Stack align="center" gap="sm" py="xl" px="md" ta="center">
      <ThemeIcon size={56} radius="xl" variant="light">
        <Icon size={30} aria-hidden />
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
