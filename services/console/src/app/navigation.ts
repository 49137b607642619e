import IconBell from '~icons/bell'
import IconBook2 from '~icons/book-2'
import IconCloudDownload from '~icons/cloud-download'
import IconFolderSearch from '~icons/folder-search'
import IconGauge from '~icons/gauge'
import IconHelp from '~icons/help'
import IconHistory from '~icons/history'
import IconKey from '~icons/key'
import IconLayoutGrid from '~icons/layout-grid'
import IconMap2 from '~icons/map-2'
import IconPalette from '~icons/palette'
import IconSend from '~icons/send'
import IconServer2 from '~icons/server-2'
import IconSettings from '~icons/settings'
import IconSignature from '~icons/signature'
import IconStack2 from '~icons/stack-2'
import IconVector from '~icons/vector'
import type { Texts } from '../texts/en.js'
import type { Icon } from '../ui/icon.js'

export interface NavigationEntry {
  readonly to: string
  readonly label: string
  readonly icon: Icon
  /** leaves the console */
  readonly outside?: boolean
}

export interface NavigationGroup {
  readonly label: string
  readonly entries: readonly NavigationEntry[]
}

export function navigation({ nav, work, maps, seeds }: Texts): readonly NavigationGroup[] {
  return [
    {
      label: nav.groups.state,
      entries: [
        { to: '/', label: nav.overview, icon: IconGauge },
        { to: '/edges', label: work.edges.title, icon: IconServer2 },
      ],
    },
    {
      label: nav.groups.maps,
      entries: [
        { to: '/basemaps', label: nav.basemaps, icon: IconStack2 },
        { to: '/vectors', label: nav.vectors, icon: IconVector },
        { to: '/styles', label: nav.styles, icon: IconPalette },
        { to: '/preview', label: maps.preview.title, icon: IconMap2 },
        { to: '/sources', label: nav.sources, icon: IconFolderSearch },
        { to: '/seeds', label: seeds.title, icon: IconCloudDownload },
        { to: '/slicing', label: nav.slicing, icon: IconLayoutGrid },
      ],
    },
    {
      label: nav.groups.delivery,
      entries: [
        { to: '/tokens', label: nav.tokens, icon: IconKey },
        { to: '/pushes', label: nav.pushes, icon: IconSend },
        { to: '/signing-keys', label: nav.signing, icon: IconSignature },
      ],
    },
    {
      label: nav.groups.system,
      entries: [
        { to: '/notifications', label: work.notifications.title, icon: IconBell },
        { to: '/audit', label: nav.audit, icon: IconHistory },
        { to: '/settings', label: nav.settings, icon: IconSettings },
        { to: nav.documentationHome, label: nav.documentation, icon: IconHelp, outside: true },
        { to: '/admin/docs/', label: nav.reference, icon: IconBook2, outside: true },
      ],
    },
  ]
}
