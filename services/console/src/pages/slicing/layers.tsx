import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconStack3 from '~icons/stack-3'
import { segment } from '../../api/client.js'
import { dashboardQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { NameLink } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { ImagePaths } from './image-paths.js'

/** The layers that slicing has made, with their source images. */
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
                    <NameLink
                      to={`/basemaps/${segment(code)}/versions/${segment(version)}`}
                      fw={550}
                      name={`${code} · ${version}`}
                    />
                    <ImagePaths paths={paths} />
                  </div>
                  <ButtonLink
                    to={`/slicing/new?${new URLSearchParams({ rebuild: code, version })}`}
                    needs="operator"
                    variant="default"
                    size="xs"
                    icon={IconStack3}
                    aria-label={`${t.slicing.rebuild}: ${code} · ${version}`}
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
