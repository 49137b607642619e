import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconLanguage, IconMoon, IconPalette, IconSun, type TablerIcon } from '@tabler/icons-react'
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
          <Menu.RadioGroup value={language} onChange={(value) => choose(value as Language)}>
            {(Object.keys(LANGUAGES) as Language[]).map((one) => (
              <Menu.RadioItem closeMenuOnClick key={one} value={one} lang={one}>
                {LANGUAGES[one]}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.nav.scheme}>
            <IconPalette size={20} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as typeof colorScheme)}>
            {SCHEMES.map((scheme) => {
              const Icon = SCHEME_ICONS[scheme]
              return (
                <Menu.RadioItem
                  closeMenuOnClick
                  key={scheme}
                  value={scheme}
                  rightSection={<Icon size={16} aria-hidden />}
                >
                  {t.nav.schemes[scheme]}
                </Menu.RadioItem>
              )
            })}
          </Menu.RadioGroup>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
