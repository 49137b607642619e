import { Badge, Group } from '@mantine/core'
import { Link } from '../../router/components.js'
import { shownText } from '../../ui/shown-text.js'

/** Tags, each with a link to the basemaps with the same tag. */
export function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null
  return (
    <Group gap={4} mt={2}>
      {tags.map((tag) => (
        <Badge
          key={tag}
          component={Link}
          to={`/basemaps?tag=${encodeURIComponent(tag)}`}
          variant="light"
          color="gray"
          tt="none"
          size="sm"
          className="tag"
        >
          {shownText(tag)}
        </Badge>
      ))}
    </Group>
  )
}
