import { Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useId } from 'react'

interface SectionProps {
  readonly title: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
  /** true if the heading of the page says the same; this one is for screen readers */
  readonly quiet?: boolean
}

/** A card with a heading; a separate region for screen readers. */
export function Section({ title, note, actions, children, className, quiet }: SectionProps) {
  const id = useId()
  return (
    <Paper component="section" aria-labelledby={id} withBorder p="md" className={`card ${className ?? ''}`}>
      <Stack gap="sm">
        {quiet ? (
          <VisuallyHidden>
            <h2 id={id}>{title}</h2>
          </VisuallyHidden>
        ) : (
          <Group justify="space-between" gap="xs" mih={30}>
            <Title order={2} id={id}>
              {title}
            </Title>
            {actions && <Group gap="xs">{actions}</Group>}
          </Group>
        )}
        {note && (
          <Text size="sm" c="dimmed" component="div">
            {note}
          </Text>
        )}
        {children}
      </Stack>
    </Paper>
  )
}
