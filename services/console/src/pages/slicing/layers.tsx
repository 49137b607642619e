import { Code, List, Stack, Text } from '@mantine/core'
import { IconStack3 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import { dashboardQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'

/** What slicing has made, with the images that went into it. */
export function Layers() {
  const t = useTexts()
  const query = useQuery(dashboardQuery)
  return (
    <Section title={t.slicing.layers} note={t.slicing.layersLead}>
      <Loaded query={query} what={t.slicing.layers}>
        {({ layers }) =>
          layers.length === 0 ? (
            <Text c="dimmed">{t.slicing.noLayers}</Text>
          ) : (
            <Stack gap="lg">
              {layers.map(({ code, version, source_paths: paths }) => (
                <div key={`${code} ${version}`} className="layer">
                  <div>
                    <TextLink to={`/basemaps/${segment(code)}/versions/${segment(version)}`} fw={550}>
                      {code} · {version}
                    </TextLink>
                    <List type="ordered" size="sm" mt={4}>
                      {paths.map((path, i) => (
                        // biome-ignore lint/suspicious/noArrayIndexKey: an image may have been laid twice; the order is what they are
                        <List.Item key={i}>
                          <Code className="wrap">{path}</Code>
                        </List.Item>
                      ))}
                    </List>
                  </div>
                  <ButtonLink
                    to={`/slicing/new?rebuild=${encodeURIComponent(code)}`}
                    variant="default"
                    size="xs"
                    leftSection={<IconStack3 size={15} aria-hidden />}
                    aria-label={`${t.slicing.rebuild}: ${code}`}
                  >
                    {t.slicing.rebuild}
                  </ButtonLink>
                </div>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}
