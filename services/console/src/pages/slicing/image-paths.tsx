import { Code, List } from '@mantine/core'

/** The paths of images in stacking order. */
export function ImagePaths({ paths }: { paths: readonly string[] }) {
  return (
    <List size="sm" type="ordered" mt={4}>
      {paths.map((path, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an image may occur twice, so only its position identifies it
        <List.Item key={i}>
          <Code className="wrap">{path}</Code>
        </List.Item>
      ))}
    </List>
  )
}
