import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { useEffect } from 'react'
import IconDeviceDesktop from '~icons/device-desktop'
import IconLanguage from '~icons/language'
import IconMoon from '~icons/moon'
import IconPalette from '~icons/palette'
import IconSun from '~icons/sun'
import { LANGUAGES, type Language } from '../texts/language.js'
import { useLanguage } from '../texts/texts.js'
import type { Icon } from '../ui/icon.js'
import { shareChoices } from './share-choices.js'

const SCHEMES = ['auto', 'light', 'dark'] as const
const SCHEME_ICONS = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon }

/** Language and colours. The browser stores both. */
export function Preferences() {
  const { texts: t, language, choose } = useLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each choice is passed on
  useEffect(shareChoices, [language, colorScheme])
  return (
    <>
      <Choice
        label={t.nav.language}
        icon={IconLanguage}
        value={language}
        onChoose={(value) => choose(value as Language)}
      >
        {(Object.keys(LANGUAGES) as Language[]).map((one) => (
          <Menu.RadioItem closeMenuOnClick key={one} value={one} lang={one}>
            {LANGUAGES[one]}
          </Menu.RadioItem>
        ))}
      </Choice>
      <Choice
        label={t.nav.scheme}
        icon={IconPalette}
        value={colorScheme}
        onChoose={(value) => setColorScheme(value as typeof colorScheme)}
      >
        {SCHEMES.map((scheme) => {
          const Icon = SCHEME_ICONS[scheme]
          return (
            <Menu.RadioItem closeMenuOnClick key={scheme} value={scheme} rightSection={<Icon size={16} />}>
              {t.nav.schemes[scheme]}
            </Menu.RadioItem>
          )
        })}
      </Choice>
    </>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly icon: Icon
  readonly value: string
  readonly onChoose: (value: string) => void
  readonly children: React.ReactNode
}

function Choice({ label, icon: Icon, value, onChoose, children }: ChoiceProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label}>
          <Icon size={20} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={value} onChange={onChoose}>
          {children}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
