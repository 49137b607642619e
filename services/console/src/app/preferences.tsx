import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import {
  IconCheck,
  IconDeviceDesktop,
  IconLanguage,
  IconMoon,
  IconPalette,
  IconSun,
  type TablerIcon,
} from '@tabler/icons-react'
import { LANGUAGES, type Language } from '../texts/language.js'
import { useSpeech } from '../texts/texts.js'

const SCHEMES = ['auto', 'light', 'dark'] as const
const SCHEME_ICONS: Record<(typeof SCHEMES)[number], TablerIcon> = {
  auto: IconDeviceDesktop,
  light: IconSun,
  dark: IconMoon,
}

/** Language and colours; both are remembered by this browser. */
export function Preferences() {
  const { texts: t, language, choose } = useSpeech()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.nav.language}>
            <IconLanguage size={20} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {(Object.keys(LANGUAGES) as Language[]).map((one) => (
            <Menu.Item
              key={one}
              role="menuitemradio"
              aria-checked={one === language}
              lang={one}
              onClick={() => choose(one)}
              rightSection={one === language && <IconCheck size={16} aria-hidden />}
            >
              {LANGUAGES[one]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.nav.scheme}>
            <IconPalette size={20} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {SCHEMES.map((scheme) => {
            const Icon = SCHEME_ICONS[scheme]
            return (
              <Menu.Item
                key={scheme}
                role="menuitemradio"
                aria-checked={scheme === colorScheme}
                leftSection={<Icon size={16} aria-hidden />}
                rightSection={scheme === colorScheme && <IconCheck size={16} aria-hidden />}
                onClick={() => setColorScheme(scheme)}
              >
                {t.nav.schemes[scheme]}
              </Menu.Item>
            )
          })}
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
