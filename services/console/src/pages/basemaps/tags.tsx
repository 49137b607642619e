import { Badge, Group } from '@mantine/core'
import { Link } from '../../router/components.js'
import { Hint } from '../../ui/hint.js'
import { shownText } from '../../ui/shown-text.js'

/** Tags, each with a link to the basemaps with the same tag. */
export function Tags({ tags, most = tags.length }: { tags: readonly string[]; most?: number }) {
  if (tags.length === 0) return null
  const others = tags.slice(most)
  return (
    <Group gap={4} wrap={others.length > 0 ? 'nowrap' : 'wrap'} className="tag">
      {tags.slice(0, most).map((tag) => (
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
      {others.length > 0 && (
        <Hint label={others.map(shownText).join(', ')}>
          <Badge variant="light" color="gray" size="sm">{`+${others.length}`}</Badge>
        </Hint>
      )}
    </Group>
  )
}
