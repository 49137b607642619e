import { Code, List } from '@mantine/core'

/** Images in the order in which they were laid. */
export function ImagePaths({ paths }: { paths: readonly string[] }) {
  return (
    <List size="sm" type="ordered" mt={4}>
      {paths.map((path, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an image may be named twice; the order is what they are
        <List.Item key={i}>
          <Code className="wrap">{path}</Code>
        </List.Item>
      ))}
    </List>
  )
}
